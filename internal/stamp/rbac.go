package stamp

// What the operator may do inside one tenant's namespace, for as long as a
// TenantGitOps needs it: it binds itself to this role there. One can grant only
// what one holds, so all that the stamped Roles grant is here.
// `make generate` turns the markers into config/rbac/role_tenant_namespace.yaml.

// The one star of the operator's roles: application kinds are found at run time,
// and the git account is granted them by name.
// +kubebuilder:rbac:groups=apps.cozystack.io,resources=*,verbs=get;list;watch;create;update;patch;delete
// Granted to the git account, for health checks.
// +kubebuilder:rbac:groups=helm.toolkit.fluxcd.io,resources=helmreleases,verbs=get;list;watch

// Stamped; the same rights on Kustomizations are granted to the tenant's controller.
// +kubebuilder:rbac:groups=kustomize.toolkit.fluxcd.io,resources=kustomizations,verbs=get;list;watch;create;update;patch;delete
// +kubebuilder:rbac:groups=kustomize.toolkit.fluxcd.io,resources=kustomizations/status,verbs=get;update;patch
// +kubebuilder:rbac:groups=kustomize.toolkit.fluxcd.io,resources=kustomizations/finalizers,verbs=update
// +kubebuilder:rbac:groups=source.toolkit.fluxcd.io,resources=gitrepositories;ocirepositories,verbs=get;list;watch;create;patch;delete
// Granted to the tenant's controller, which watches all four kinds of artifacts.
// +kubebuilder:rbac:groups=source.toolkit.fluxcd.io,resources=buckets;externalartifacts,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch

// The git account. Impersonate and get are granted to the tenant's controller,
// for that one account by name.
// +kubebuilder:rbac:groups="",resources=serviceaccounts,verbs=get;create;patch;delete;impersonate
// The Secrets that sources name, looked at and watched by name, granted by name;
// those with generated keys are written.
// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch
// The Roles of both accounts.
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=roles,verbs=get;create;patch;delete
