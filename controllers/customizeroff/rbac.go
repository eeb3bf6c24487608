package customizeroff

// What the operator may do with Customizers whether or not the admin tier is switched on; it is
// part of config/rbac/role.yaml.

// Read them, and tell of them.
// +kubebuilder:rbac:groups=gitops.cozystack.io,resources=customizers,verbs=get;list;watch
// +kubebuilder:rbac:groups=gitops.cozystack.io,resources=customizers/status,verbs=patch
