package v1alpha1

// Reasons of a PackageValues' conditions, and of its components' states.
const (
	// ReasonSucceeded: Helm has applied the values to every release.
	ReasonSucceeded = "Succeeded"
	// ReasonProgressing: the values are on their way.
	ReasonProgressing = "Progressing"
	// ReasonSuspended: the override is frozen, by the spec.
	ReasonSuspended = "Suspended"
	// ReasonPlatformNotReady: Packages are not served here.
	ReasonPlatformNotReady = "PlatformNotReady"
	// ReasonPackageNotFound: there is no Package of this name.
	ReasonPackageNotFound = "PackageNotFound"
	// ReasonPackageSourceNotFound: there is no PackageSource of this name, or none of the
	// Package's variant in it, so nobody knows the components.
	ReasonPackageSourceNotFound = "PackageSourceNotFound"
	// ReasonComponentNotFound: the Package has no component of this name.
	ReasonComponentNotFound = "ComponentNotFound"
	// ReasonComponentNotInstalled: the component is disabled, or has no release.
	ReasonComponentNotInstalled = "ComponentNotInstalled"
	// ReasonReleaseNotFound: the component's release is not made yet.
	ReasonReleaseNotFound = "ReleaseNotFound"
	// ReasonOperatorsOwn: the release is one of the operator's own namespace, which nothing
	// overrides.
	ReasonOperatorsOwn = "OperatorsOwn"
	// ReasonInvalidValues: the override cannot be laid over the Package's values.
	ReasonInvalidValues = "InvalidValues"
	// ReasonNotStored: the release does not take the values.
	ReasonNotStored = "NotStored"
	// ReasonReleaseFailed: Helm has failed to apply the release.
	ReasonReleaseFailed = "ReleaseFailed"
)

// ValuesOverriddenCondition is the condition on a Package that names its PackageValues.
const ValuesOverriddenCondition = "ValuesOverridden"

// ReasonPackageValues is the reason of the condition ValuesOverridden.
const ReasonPackageValues = "PackageValues"
