package gitopsparameters

// The operator makes the object where there is none, and never changes one: it is the
// admin's.
// +kubebuilder:rbac:groups=gitops.cozystack.io,resources=gitopsparameters,verbs=get;list;watch;create
