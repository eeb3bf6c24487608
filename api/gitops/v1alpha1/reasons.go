package v1alpha1

// Reasons of a TenantGitOps' conditions, and of its sources' states where Flux
// did not give one.
const (
	// ReasonSucceeded: every source is fetched and applied.
	ReasonSucceeded = "Succeeded"
	// ReasonProgressing: something is on its way and nothing has failed.
	ReasonProgressing = "Progressing"
	// ReasonSuspended: reconciliation is suspended, by the spec.
	ReasonSuspended = "Suspended"
	// ReasonPlatformNotReady: Flux, as it runs here, would not keep tenants
	// apart or does not know a field that has to be stamped. The message says
	// the mend.
	ReasonPlatformNotReady = "PlatformNotReady"
	// ReasonNotATenant: the namespace is not a tenant's.
	ReasonNotATenant = "NotATenant"
	// ReasonControllerNotReady: the tenant's controller does not run.
	ReasonControllerNotReady = "ControllerNotReady"
	// ReasonSourceFailed: at least one source is not ready.
	ReasonSourceFailed = "SourceFailed"
	// ReasonSecretNotFound: a source names a Secret that does not exist.
	ReasonSecretNotFound = "SecretNotFound"
	// ReasonSecretInvalid: a Secret that a source names lacks a key, or a key
	// in it cannot be read.
	ReasonSecretInvalid = "SecretInvalid"
	// ReasonConfigMapNotFound: a source names a ConfigMap that does not exist.
	ReasonConfigMapNotFound = "ConfigMapNotFound"
	// ReasonTargetNamespaceRefused: targetNamespace is neither this tenant's
	// namespace nor that of a tenant below it, or does not exist.
	ReasonTargetNamespaceRefused = "TargetNamespaceRefused"
	// ReasonDependencyCycle: sources depend on each other in a ring.
	ReasonDependencyCycle = "DependencyCycle"
	// ReasonFieldNotSupported: the Flux that runs here does not know a field
	// which the source uses.
	ReasonFieldNotSupported = "FieldNotSupported"
	// ReasonNameTaken: an object of that name exists and is not the operator's.
	ReasonNameTaken = "NameTaken"
	// ReasonStampFailed: the API server refused an object. The message names it.
	ReasonStampFailed = "StampFailed"
	// ReasonArtifactTooLarge: what a source fetched is larger than the platform's admin
	// allows, so the source is suspended. The message says the mend.
	ReasonArtifactTooLarge = "ArtifactTooLarge"
	// ReasonApplicationFailed: the release of an application that a source has applied has
	// failed. The message names it, with helm-controller's words.
	ReasonApplicationFailed = "ApplicationFailed"
	// ReasonPruneBlocked: a revision would delete more than half of a source's
	// applications, and waits for confirmPrune.
	ReasonPruneBlocked = "PruneBlocked"
	// ReasonConflict: another source has one of the source's applications too. The
	// message names both.
	ReasonConflict = "Conflict"
	// ReasonTerminating: the TenantGitOps, or a source of it, is being taken
	// down; the message says what it waits for.
	ReasonTerminating = "Terminating"
)

// Reasons of a Customizer's conditions, beside those above.
const (
	// ReasonSwitchedOff: the operator was installed without the admin tier.
	ReasonSwitchedOff = "SwitchedOff"
	// ReasonProfileNotInstalled: the role of the profile is not there, or the operator may not
	// bind it.
	ReasonProfileNotInstalled = "ProfileNotInstalled"
	// ReasonRulesNotHeld: the operator was not given what extraRules are to grant.
	ReasonRulesNotHeld = "RulesNotHeld"
	// ReasonRulesUnresolved: a rule is for a resource that this cluster does not serve. It is
	// the reason of the condition RulesResolved alone.
	ReasonRulesUnresolved = "RulesUnresolved"
)

// RulesResolvedCondition is there, and false, while a rule of a Customizer is for a resource
// that the cluster does not serve.
const RulesResolvedCondition = "RulesResolved"

// RemovalTrackedCondition is there, and false, while applications keep what leaves git.
const RemovalTrackedCondition = "RemovalTracked"

// ReasonRemovalOff is the reason of the condition RemovalTracked: what git applies to an
// application is too much to remember.
const ReasonRemovalOff = "RemovalOff"

// Reasons of events that stand for no condition.
const (
	// ReasonFinalizerReleased: the operator took Flux's finalizer off a
	// Kustomization whose controller could not.
	ReasonFinalizerReleased = "FinalizerReleased"
	// ReasonOwnerLabelsLeft: Flux's owner labels stay on applications, since the applications
	// API is away while a TenantGitOps is taken down.
	ReasonOwnerLabelsLeft = "OwnerLabelsLeft"
	// ReasonKeyGenerated: a deploy key or an age identity was made.
	ReasonKeyGenerated = "KeyGenerated"
	// ReasonRolloutHalted: a new controller image is not rolled on, since a
	// controller that has it does not become ready.
	ReasonRolloutHalted = "RolloutHalted"
)

// Reasons of the condition ArtifactsSealed, and of the events of its changes, on
// GitOpsParameters.
const (
	// ReasonSealedByNetworkPolicy: only Flux and the tenants' controllers reach the
	// artifacts.
	ReasonSealedByNetworkPolicy = "SealedByNetworkPolicy"
	// ReasonSealedByCilium: the same, where Flux is on the host network, by Cilium's
	// clusterwide policies.
	ReasonSealedByCilium = "SealedByCilium"
	// ReasonCiliumTooOld: Flux is on the host network, and the Cilium that runs here
	// does not know a field without which a policy would close the nodes altogether.
	ReasonCiliumTooOld = "CiliumTooOld"
	// ReasonOpenedByAnotherPolicy: a NetworkPolicy that is not the operator's lets
	// others to the artifacts.
	ReasonOpenedByAnotherPolicy = "OpenedByAnotherPolicy"
	// ReasonFluxOnHostNetwork: the artifacts are served on the nodes' own addresses,
	// where no NetworkPolicy holds, and Cilium's policies are not served.
	ReasonFluxOnHostNetwork = "FluxOnHostNetwork"
	// ReasonNoTenantGitOps: nobody uses GitOps yet, so nothing is sealed.
	ReasonNoTenantGitOps = "NoTenantGitOps"
)

// Reasons of the condition SourcesContained, beside those above, on GitOpsParameters.
const (
	// ReasonContainedByNetworkPolicy: source-controller reaches nothing internal but
	// what it needs and what an admin allows.
	ReasonContainedByNetworkPolicy = "ContainedByNetworkPolicy"
	// ReasonEgressOpen: nobody asked for source-controller to be contained.
	ReasonEgressOpen = "EgressOpen"
)
