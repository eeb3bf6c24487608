package tenantgitops

import (
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/platform"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

// CacheOptions narrows the manager's cache to what the reconciler reads: stamped
// objects by label, and of the platform's own objects single namespaces. Reading
// a kind that is not watched is an error, so that nobody comes to watch a whole
// cluster by accident.
func CacheOptions(config Config) cache.Options {
	stamped := cache.ByObject{Label: labels.SelectorFromSet(labels.Set{stamp.ManagedByLabel: stamp.ManagedBy})}
	sharded, _ := labels.NewRequirement(platform.ShardLabel, selection.Exists, nil)
	controllers := map[string]cache.Config{config.Stamp.ControllersNamespace: {LabelSelector: stamped.Label}}
	besideFlux := map[string]cache.Config{
		config.Stamp.ControllersNamespace: {LabelSelector: stamped.Label},
		config.FluxNamespace:              {},
	}
	return cache.Options{
		ReaderFailOnMissingInformer: true,
		DefaultTransform:            cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&gitopsv1.TenantGitOps{}:     {},
			&gitopsv1.GitOpsParameters{}: {},
			&gitopsv1.Customizer{}:       {},
			&kustomizev1.Kustomization{}: {Label: labels.NewSelector().Add(*sharded)},
			// Also those that tenants wrote by hand: their artifacts are bounded too, and no
			// label tells them from the platform's few.
			&sourcev1.GitRepository{}:     {},
			&sourcev1.OCIRepository{}:     {},
			&corev1.ServiceAccount{}:      stamped,
			&rbacv1.Role{}:                stamped,
			&rbacv1.RoleBinding{}:         stamped,
			&corev1.Pod{}:                 {Namespaces: controllers},
			&networkingv1.NetworkPolicy{}: {Namespaces: besideFlux},
			&appsv1.Deployment{}:          {Namespaces: besideFlux},
			&discoveryv1.EndpointSlice{}: {
				Namespaces: map[string]cache.Config{metav1.NamespaceDefault: {}},
				Label:      labels.SelectorFromSet(labels.Set{discoveryv1.LabelServiceName: platform.APIServerService}),
			},
			platform.APIService(): {Field: fields.OneTermEqualSelector(metav1.ObjectNameField, platform.ApplicationsAPIService)},
			&rbacv1.ClusterRole{}: {Field: fields.OneTermEqualSelector(metav1.ObjectNameField, platform.TenantAdminRole)},
		},
	}
}

// UncachedObjects are the kinds that are read one at a time from the API server.
func UncachedObjects() []client.Object {
	crd := &metav1.PartialObjectMetadata{}
	crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	return []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}, &apiextensionsv1.CustomResourceDefinition{}, crd}
}
