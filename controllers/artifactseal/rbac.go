package artifactseal

// What the operator may do for the seal. `make generate` turns the markers into
// config/rbac/role.yaml.

// Whether anybody uses GitOps.
// +kubebuilder:rbac:groups=gitops.cozystack.io,resources=tenantgitops,verbs=get;list;watch

// Where source-controller runs, and on which port it serves artifacts.
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch,namespace=cozy-fluxcd

// Where the API server is, which source-controller must reach when it is contained.
// +kubebuilder:rbac:groups=discovery.k8s.io,resources=endpointslices,verbs=get;list;watch,namespace=default

// The policies that seal the artifacts beside Flux; those of others there are read, since
// they may open what these close.
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;list;watch;create;patch;delete,namespace=cozy-fluxcd

// Where an admin is told whether the artifacts are sealed, and the events of its changes.
// +kubebuilder:rbac:groups=gitops.cozystack.io,resources=gitopsparameters,verbs=get;list;watch
// +kubebuilder:rbac:groups=gitops.cozystack.io,resources=gitopsparameters/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Whether Cilium's clusterwide policies are served and know every field of these two,
// which are touched by name. No role can grant a creation by name.
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get,resourceNames=ciliumclusterwidenetworkpolicies.cilium.io
// +kubebuilder:rbac:groups=cilium.io,resources=ciliumclusterwidenetworkpolicies,verbs=get;patch;delete,resourceNames=gitops-artifacts-nodes;gitops-artifacts-pods
// +kubebuilder:rbac:groups=cilium.io,resources=ciliumclusterwidenetworkpolicies,verbs=create
