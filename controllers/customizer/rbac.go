package customizer

// What the operator may do for Customizers. `make generate` turns the markers into
// config/customizer/rbac/operator_role.yaml, which is installed only where the admin tier is
// switched on. What it may write is held by the policies operator_*.yaml of config/policies.

// The finalizer; reading Customizers and telling of them is in the operator's own role.
// +kubebuilder:rbac:groups=gitops.cozystack.io,resources=customizers,verbs=patch

// Whether somebody is reinstalling the operator.
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=customizers.gitops.cozystack.io,verbs=get

// The account that the repository is applied as, its source, and how it is applied.
// +kubebuilder:rbac:groups="",namespace=cozy-system,resources=serviceaccounts,verbs=create;patch;delete
// +kubebuilder:rbac:groups=source.toolkit.fluxcd.io,namespace=cozy-system,resources=gitrepositories;ocirepositories,verbs=create;patch;delete
// +kubebuilder:rbac:groups=kustomize.toolkit.fluxcd.io,namespace=cozy-system,resources=kustomizations,verbs=create;patch;delete

// The namespaces that a repository owns; they are made, and neither changed nor deleted. What
// the account may do there is bound by RoleBindings, which are in the operator's own role.
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=create

// What the account may do everywhere: one of these roles, and no other one.
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=clusterrolebindings,verbs=get;create;patch;delete
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=clusterroles,resourceNames=gitops-customizer-curated;gitops-customizer-overrides-only;gitops-customizer-owned-namespace,verbs=bind

// The extra rules. The API server lets it grant only what it holds: what an admin has given it
// by ClusterRoles with the label gitops.cozystack.io/grantable-to-customizers.
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=clusterroles,verbs=get;create;patch;delete
