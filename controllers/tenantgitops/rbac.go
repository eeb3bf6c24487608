package tenantgitops

// What the operator may do outside the namespaces of tenants that have a
// TenantGitOps. It holds neither impersonate nor the right to read Secrets; for
// those it binds itself, by name, into a tenant's namespace (see package stamp).
// `make generate` turns the markers into config/rbac/role.yaml.

// The kind it reconciles, its status and its finalizer.
// +kubebuilder:rbac:groups=gitops.cozystack.io,resources=tenantgitops,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=gitops.cozystack.io,resources=tenantgitops/status,verbs=patch

// Which namespaces are tenants, below which, and which are going.
// +kubebuilder:rbac:groups="",resources=namespaces,verbs=get;list;watch

// Node addresses, for the policies where Flux is on the host network.
// +kubebuilder:rbac:groups="",resources=nodes,verbs=get;list;watch

// Stamped objects, watched by label to repair drift. These rights show no secret.
// +kubebuilder:rbac:groups="",resources=serviceaccounts,verbs=get;list;watch
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=roles,verbs=get;list;watch
// +kubebuilder:rbac:groups=kustomize.toolkit.fluxcd.io,resources=kustomizations,verbs=get;list;watch
// +kubebuilder:rbac:groups=source.toolkit.fluxcd.io,resources=gitrepositories;ocirepositories,verbs=get;list;watch

// Its way into a tenant's namespace and out again: a binding to this one role.
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=rolebindings,verbs=get;list;watch;create;patch;delete
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=clusterroles,verbs=bind,resourceNames=gitops-operator-tenant-namespace

// The application kinds that a tenant's admins may write.
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=clusterroles,verbs=get;list;watch,resourceNames="cozy:tenant:admin"
// +kubebuilder:rbac:groups=cozystack.io,resources=applicationdefinitions,verbs=get;list

// Whether applications are served by an API server of their own, which stores no managed
// fields: only there the webhook takes out what has left git.
// +kubebuilder:rbac:groups=apiregistration.k8s.io,resources=apiservices,verbs=list;watch,resourceNames=v1alpha1.apps.cozystack.io

// Whether the applications that git applied are ready: the platform makes a HelmRelease of
// each. Only those with an application's label are asked for, and nothing of their spec is
// kept; RBAC can express neither.
// +kubebuilder:rbac:groups=helm.toolkit.fluxcd.io,resources=helmreleases,verbs=list;watch

// The fields that the served Flux knows, whether Cilium is there, and whether its
// own kind is being uninstalled.
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,verbs=get,resourceNames=kustomizations.kustomize.toolkit.fluxcd.io;gitrepositories.source.toolkit.fluxcd.io;ocirepositories.source.toolkit.fluxcd.io;ciliumnetworkpolicies.cilium.io;tenantgitops.gitops.cozystack.io

// What it tells tenants.
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch

// Who asks for metrics, and whether they may.
// +kubebuilder:rbac:groups=authentication.k8s.io,resources=tokenreviews,verbs=create
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create

// The tenants' controllers: their Deployments, accounts and network policies, in
// the namespace that holds nothing else; their pods are read for the status.
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;patch;delete,namespace=cozy-gitops-tenants
// +kubebuilder:rbac:groups="",resources=serviceaccounts,verbs=create;patch;delete,namespace=cozy-gitops-tenants
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=get;list;watch;create;patch;delete,namespace=cozy-gitops-tenants
// +kubebuilder:rbac:groups=cilium.io,resources=ciliumnetworkpolicies,verbs=get;create;patch;delete,namespace=cozy-gitops-tenants
// +kubebuilder:rbac:groups="",resources=pods,verbs=get;list;watch,namespace=cozy-gitops-tenants

// How the platform's Flux runs.
// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch,namespace=cozy-fluxcd

// The addresses of the API server.
// +kubebuilder:rbac:groups=discovery.k8s.io,resources=endpointslices,verbs=get;list;watch,namespace=default

// Its own leader election, and the events that tell of a new leader.
// +kubebuilder:rbac:groups="",resources=events,verbs=create;patch,namespace=cozy-gitops
// +kubebuilder:rbac:groups=coordination.k8s.io,resources=leases,verbs=get;create;update;patch,namespace=cozy-gitops
