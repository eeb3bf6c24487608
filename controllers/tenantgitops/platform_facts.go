package tenantgitops

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/apply"
	"github.com/cozystack/gitops-operator/internal/healthcheck"
	"github.com/cozystack/gitops-operator/internal/helmrelease"
	"github.com/cozystack/gitops-operator/internal/platform"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

// The CRDs whose served fields are looked at, the one that tells Cilium, and the
// operator's own, whose deletion is an uninstallation.
const (
	kustomizationCRD = "kustomizations.kustomize.toolkit.fluxcd.io"
	gitRepositoryCRD = "gitrepositories.source.toolkit.fluxcd.io"
	ociRepositoryCRD = "ocirepositories.source.toolkit.fluxcd.io"
	ciliumPolicyCRD  = "ciliumnetworkpolicies.cilium.io"
	tenantGitOpsCRD  = "tenantgitops.gitops.cozystack.io"
)

// platformFacts are what every tenant's stack depends on.
type platformFacts struct {
	// mend says why nothing may be stamped, and how to put it right.
	mend error
	// network is what a tenant's controller must reach.
	network stamp.Network
	// kinds are the application kinds that git may write.
	kinds []string
	// healthKinds are the names of these kinds, for health checks.
	healthKinds []string
	// releases: HelmReleases are served.
	releases bool
	// crds are the served Flux CRDs, by name.
	crds map[string]*apiextensionsv1.CustomResourceDefinition
}

// platformReader reads the facts of the platform, and believes them for a while:
// they are the same for all tenants.
type platformReader struct {
	client    client.Client
	discovery discovery.DiscoveryInterface
	config    Config

	mu     sync.Mutex
	facts  *platformFacts
	readAt time.Time
}

// Invalidate forgets what was read.
func (r *platformReader) Invalidate() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.facts = nil
}

func (r *platformReader) read(ctx context.Context) (*platformFacts, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.facts != nil && time.Since(r.readAt) < r.config.PlatformTTL {
		return r.facts, nil
	}
	facts := &platformFacts{crds: map[string]*apiextensionsv1.CustomResourceDefinition{}}
	// Also beside a Flux that is not fit: a teardown has to know.
	if err := r.readCilium(ctx, facts); err != nil {
		return nil, err
	}
	if err := r.readFlux(ctx, facts); err != nil {
		return nil, err
	}
	if facts.mend == nil {
		var err error
		if err := r.readNetwork(ctx, facts); err != nil {
			return nil, err
		}
		if err := r.readKinds(ctx, facts); err != nil {
			return nil, err
		}
		if facts.releases, err = r.servesReleases(); err != nil {
			return nil, err
		}
	}
	r.facts, r.readAt = facts, time.Now()
	return facts, nil
}

// readCilium finds whether Cilium's policies are served.
func (r *platformReader) readCilium(ctx context.Context, facts *platformFacts) error {
	cilium := &metav1.PartialObjectMetadata{}
	cilium.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	err := r.client.Get(ctx, client.ObjectKey{Name: ciliumPolicyCRD}, cilium)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("cannot read custom resource definition %s: %w", ciliumPolicyCRD, err)
	}
	facts.network.Cilium = err == nil
	return nil
}

// readFlux finds the platform's Flux, and the fields that its CRDs know.
func (r *platformReader) readFlux(ctx context.Context, facts *platformFacts) error {
	var deployments appsv1.DeploymentList
	if err := r.client.List(ctx, &deployments, client.InNamespace(r.config.FluxNamespace)); err != nil {
		return fmt.Errorf("cannot list the Deployments of Flux in namespace %s: %w", r.config.FluxNamespace, err)
	}
	flux, mend := platform.InspectFlux(r.config.FluxNamespace, deployments.Items)
	facts.network.Artifacts = stamp.ArtifactEndpoint{
		Namespace:   flux.Namespace,
		PodLabels:   flux.ArtifactPodLabels,
		Port:        flux.ArtifactPort,
		HostNetwork: flux.HostNetwork,
	}
	mends := []error{mend}
	for _, name := range []string{kustomizationCRD, gitRepositoryCRD, ociRepositoryCRD} {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := r.client.Get(ctx, client.ObjectKey{Name: name}, crd); err != nil {
			if !apierrors.IsNotFound(err) {
				return fmt.Errorf("cannot read custom resource definition %s: %w", name, err)
			}
			mends = append(mends, fmt.Errorf("the cluster does not serve %s: install Flux 2.7 or later", name))
			continue
		}
		facts.crds[name] = crd
	}
	if len(facts.crds) == 3 {
		mend, err := r.alwaysStamped(facts)
		if err != nil {
			return err
		}
		mends = append(mends, mend)
	}
	facts.mend = errors.Join(mends...)
	return nil
}

// alwaysStamped renders the least of sources and looks whether the served CRDs
// know every field of it.
func (r *platformReader) alwaysStamped(facts *platformFacts) (mend, err error) {
	minute := metav1.Duration{Duration: time.Minute}
	objects, err := stamp.SourceObjects(stamp.Input{
		HealthKinds: []string{"Any"},

		Config: r.config.Stamp,
		Tenant: &gitopsv1.TenantGitOps{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant-of-the-check", Name: gitopsv1.TenantGitOpsName}},
		Stamped: []gitopsv1.Source{
			{Name: "git", Interval: minute, RetryInterval: &minute, Timeout: &minute, Git: &gitopsv1.GitSource{Interval: minute, Timeout: &minute}},
			{Name: "oci", Interval: minute, RetryInterval: &minute, Timeout: &minute, OCI: &gitopsv1.OCISource{Interval: minute, Timeout: &minute}},
		},
	})
	if err != nil {
		return nil, err
	}
	var mends []error
	for _, obj := range objects {
		mends = append(mends, r.unknownFields(facts, obj))
	}
	return errors.Join(mends...), nil
}

// unknownFields says which fields of an object the served CRD would drop.
func (r *platformReader) unknownFields(facts *platformFacts, obj client.Object) error {
	u, err := apply.ToUnstructured(obj, r.client.Scheme())
	if err != nil {
		return err
	}
	name := map[string]string{
		kustomizev1.KustomizationKind: kustomizationCRD,
		sourcev1.GitRepositoryKind:    gitRepositoryCRD,
		sourcev1.OCIRepositoryKind:    ociRepositoryCRD,
	}[u.GetKind()]
	unknown, err := platform.UnknownFields(facts.crds[name], u.GroupVersionKind().Version, u.Object)
	if err != nil {
		return fmt.Errorf("%w: install Flux 2.7 or later", err)
	}
	if len(unknown) > 0 {
		return fmt.Errorf("the custom resource definition %s does not know %v: upgrade Flux, and its CRDs with it", name, unknown)
	}
	return nil
}

func (r *platformReader) readNetwork(ctx context.Context, facts *platformFacts) error {
	var slicesOfAPI discoveryv1.EndpointSliceList
	if err := r.client.List(ctx, &slicesOfAPI, client.InNamespace(metav1.NamespaceDefault), client.MatchingLabels{discoveryv1.LabelServiceName: platform.APIServerService}); err != nil {
		return fmt.Errorf("cannot list the endpoints of the API server: %w", err)
	}
	facts.network.APIServer = platform.APIServerAddresses(slicesOfAPI.Items)
	if len(facts.network.APIServer) == 0 {
		return errors.New("cannot find the API server's addresses: the Service default/kubernetes has no endpoints")
	}
	facts.network.DNSNamespace, facts.network.DNSPodLabels = r.config.DNSNamespace, r.config.DNSPodLabels
	if facts.network.Artifacts.HostNetwork && !facts.network.Cilium {
		var nodes corev1.NodeList
		if err := r.client.List(ctx, &nodes); err != nil {
			return fmt.Errorf("cannot list nodes: %w", err)
		}
		facts.network.Artifacts.NodeAddresses = nodeAddresses(nodes.Items)
	}
	return nil
}

func nodeAddresses(nodes []corev1.Node) []netip.Addr {
	var addresses []netip.Addr
	for _, node := range nodes {
		for _, entry := range node.Status.Addresses {
			if entry.Type != corev1.NodeInternalIP {
				continue
			}
			if address, err := netip.ParseAddr(entry.Address); err == nil {
				addresses = append(addresses, address)
			}
		}
	}
	slices.SortFunc(addresses, netip.Addr.Compare)
	return slices.Compact(addresses)
}

// readKinds finds the application kinds that a tenant's admins may write.
func (r *platformReader) readKinds(ctx context.Context, facts *platformFacts) error {
	role := &rbacv1.ClusterRole{}
	err := r.client.Get(ctx, client.ObjectKey{Name: platform.TenantAdminRole}, role)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("cannot read ClusterRole %s: %w", platform.TenantAdminRole, err)
	}
	if err != nil {
		role = nil
	}
	definitions := &unstructured.UnstructuredList{}
	definitions.SetGroupVersionKind(schema.GroupVersionKind{Group: "cozystack.io", Version: "v1alpha1", Kind: "ApplicationDefinitionList"})
	// Off Cozystack the kind is not served; then the configuration names them all.
	if err := r.client.List(ctx, definitions); err != nil && !apimeta.IsNoMatchError(err) && !apierrors.IsNotFound(err) {
		return fmt.Errorf("cannot list ApplicationDefinitions: %w", err)
	}
	facts.kinds = platform.ApplicationKinds(role, definitions.Items, r.config.ExtraKinds)
	named, unnamed := platform.KindNames(facts.kinds, definitions.Items)
	if len(unnamed) > 0 {
		served, err := r.served(healthcheck.APIVersion)
		// A server of applications that is away serves only what definitions name, and they
		// have been asked; no tenant is to be kept waiting for it, or kept from going.
		if err != nil && !apierrors.IsServiceUnavailable(err) {
			return err
		}
		named = append(named, platform.ServedKindNames(unnamed, served)...)
	}
	facts.healthKinds = named
	return nil
}

// servesReleases finds whether there are HelmReleases to be watched.
func (r *platformReader) servesReleases() (bool, error) {
	served, err := r.served(helmrelease.GroupVersion.String())
	return slices.ContainsFunc(served, func(resource metav1.APIResource) bool { return resource.Kind == "HelmRelease" }), err
}

// served lists the resources of a group and version; none where it is not served.
func (r *platformReader) served(groupVersion string) ([]metav1.APIResource, error) {
	list, err := r.discovery.ServerResourcesForGroupVersion(groupVersion)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot find the kinds of %s: %w", groupVersion, err)
	}
	return list.APIResources, nil
}
