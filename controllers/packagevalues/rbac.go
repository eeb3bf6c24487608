package packagevalues

// What the operator may do for PackageValues. `make generate` turns the markers into
// config/rbac/role_package_values.yaml, a role of its own: what it may patch is held by the
// policies operator_helmreleases.yaml and operator_packages.yaml.

// The kind it reconciles, and its status.
// +kubebuilder:rbac:groups=cozystack.io,resources=packagevalues,verbs=get;list;watch
// +kubebuilder:rbac:groups=cozystack.io,resources=packagevalues/status,verbs=update

// Which components a Package has, and with which values.
// +kubebuilder:rbac:groups=cozystack.io,resources=packages;packagesources,verbs=get;list;watch

// One condition on a Package, which names its PackageValues.
// +kubebuilder:rbac:groups=cozystack.io,resources=packages/status,verbs=patch

// The label and the annotation by which the webhook is asked about a release, and whether Helm
// has applied it. They may be in any namespace.
// +kubebuilder:rbac:groups=helm.toolkit.fluxcd.io,resources=helmreleases,verbs=list;watch;patch

// What it tells admins.
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
