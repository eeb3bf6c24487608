package escapes_test

import (
	"context"
	"fmt"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

const (
	// victim is the tenant that others try to reach; it is called as in the attempts.
	victim = "tenant-other"
	// canary is what is in Secrets that nobody may read.
	canary = "canary-7f3a91d2"
)

// scenery is what the escapes of controllers need.
type scenery struct {
	listener *listener
	files    map[string]string
}

// newScenery lays out the victim, and for each tenant a repository, the objects that its
// Kustomizations try to use, and a child.
func newScenery(t *testing.T) *scenery {
	t.Helper()
	s := &scenery{listener: newListener(t), files: map[string]string{}}
	git := harness.NewGitServer(t)
	private, _ := harness.NewRepository(t, git, "acme/private", map[string]string{
		"app/app.yaml": fixtures.Postgres("app", "1Gi"), "app/kustomization.yaml": "resources: [app.yaml]\n",
	})
	s.writeFiles(private.HTTPURL())
	repository, _ := harness.NewRepository(t, git, "acme/escapes", s.files)

	if err := fixtures.CreateTenant(t.Context(), cluster.Client, victim); err != nil {
		t.Fatal(err)
	}
	stolen := s.fetched(t, victim, private.HTTPURL())
	s.layOutDependency(t)
	for _, c := range controllers {
		if err := fixtures.CreateTenant(t.Context(), cluster.Client, c.tenant+"-child"); err != nil {
			t.Fatal(err)
		}
		s.fetched(t, c.tenant, repository.HTTPURL())
		s.layOutSources(t, c.tenant, stolen)
		s.layOutReferences(t, c.tenant)
	}
	return s
}

// writeFiles are the folders that Kustomizations apply.
func (s *scenery) writeFiles(foreign string) {
	s.files["app/app.yaml"] = fixtures.Postgres("app", "1Gi")
	s.files["foreign/kustomization.yaml"] = fmt.Sprintf("resources: [%q]\n", foreign+"//app?ref=main")
	s.files["substituted/app.yaml"] = fixtures.Manifest("Postgres", "app", map[string]any{"password": "${password}"})
	for _, object := range writtenThroughGit {
		s.files["written/"+slug(object.what)+"/object.yaml"] = object.manifest
	}
	for _, c := range controllers {
		// Each has a folder of its own, so that it is seen who asked.
		s.files["base/"+c.tenant+"/kustomization.yaml"] = fmt.Sprintf("resources: [%q]\n", s.listener.url+"/base/"+c.tenant+".yaml")
		s.files["vault/"+c.tenant+"/app.yaml"] = vaultEncrypted(s.listener.url, c.tenant)
		s.files["kms/"+c.tenant+"/app.yaml"] = kmsEncrypted
	}
}

// fetched is a GitRepository called good, once source-controller has fetched it.
func (s *scenery) fetched(t *testing.T, namespace, url string) *sourcev1.GitRepository {
	t.Helper()
	source := &sourcev1.GitRepository{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "good"},
		Spec: sourcev1.GitRepositorySpec{
			URL: url, Reference: &sourcev1.GitRepositoryRef{Branch: "main"}, Interval: metav1.Duration{Duration: hour},
		},
	}
	write(t, source)
	harness.Await(t, "the artifact of "+namespace, func(ctx context.Context) (bool, string) {
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(source), source); err != nil {
			return false, err.Error()
		}
		return source.Status.Artifact != nil, fmt.Sprint(source.Status.Conditions)
	})
	return source
}

// layOutDependency has the victim's Kustomization say that it is ready.
func (s *scenery) layOutDependency(t *testing.T) {
	t.Helper()
	dependency := &kustomizev1.Kustomization{
		ObjectMeta: metav1.ObjectMeta{Namespace: victim, Name: "b", Labels: map[string]string{"sharding.fluxcd.io/key": victim}},
		Spec: kustomizev1.KustomizationSpec{
			Interval: metav1.Duration{Duration: hour}, Suspend: true,
			SourceRef: kustomizev1.CrossNamespaceSourceReference{Kind: "GitRepository", Name: "private"},
		},
	}
	write(t, dependency)
	before := dependency.DeepCopy()
	dependency.Status.ObservedGeneration = dependency.Generation
	apimeta.SetStatusCondition(&dependency.Status.Conditions, metav1.Condition{Type: meta.ReadyCondition, Status: metav1.ConditionTrue, Reason: "Applied"})
	report(t, dependency, before)
}

// layOutSources puts the victim's artifact into sources of kinds that tenants do not have.
func (s *scenery) layOutSources(t *testing.T, tenant string, stolen *sourcev1.GitRepository) {
	t.Helper()
	external := &sourcev1.ExternalArtifact{ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: "good"}}
	write(t, external)
	externalBefore := external.DeepCopy()
	external.Status.Artifact = stolen.Status.Artifact
	report(t, external, externalBefore)
	bucket := &sourcev1.Bucket{
		ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: "good"},
		Spec:       sourcev1.BucketSpec{BucketName: "acme", Endpoint: "bucket.example.org", Interval: metav1.Duration{Duration: hour}, Suspend: true},
	}
	write(t, bucket)
	bucketBefore := bucket.DeepCopy()
	bucket.Status.Artifact = stolen.Status.Artifact
	report(t, bucket, bucketBefore)
}

// layOutReferences writes the Secrets and ConfigMaps that a tenant's Kustomizations try
// to use. No source of its TenantGitOps names them.
func (s *scenery) layOutReferences(t *testing.T, tenant string) {
	t.Helper()
	kubeconfig, err := clientcmd.Write(kubeconfigFor(s.listener.secureURL+"/kubeconfig/"+tenant, s.listener.authority, canary))
	if err != nil {
		t.Fatal(err)
	}
	harness.WriteSecret(t, cluster.Client, tenant, "admin.gitops", map[string]string{"value": string(kubeconfig)})
	harness.WriteSecret(t, cluster.Client, tenant, "age.gitops", map[string]string{"sops.vault-token": canary})
	harness.WriteSecret(t, cluster.Client, tenant, "db.gitops", map[string]string{"password": canary})
	write(t, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: "admin"},
		Data: map[string]string{
			"provider": "generic", "address": cluster.Config.Host, "ca.crt": string(cluster.Config.CAData),
			"serviceAccountName": tenant, "audiences": tokenAudience,
		},
	})
	// The controller manager makes it as well.
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: "default"}}
	harness.AwaitExists(t, cluster.Client, account)
	before := account.DeepCopy()
	account.Annotations = map[string]string{"eks.amazonaws.com/role-arn": "arn:aws:iam::000000000000:role/acme"}
	if err := cluster.Client.Patch(t.Context(), account, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

// kubeconfigFor leads to a server, with a token.
func kubeconfigFor(server string, authority []byte, token string) clientcmdapi.Config {
	made := clientcmdapi.NewConfig()
	made.Clusters["a"] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: authority}
	made.AuthInfos["a"] = &clientcmdapi.AuthInfo{Token: token}
	made.Contexts["a"] = &clientcmdapi.Context{Cluster: "a", AuthInfo: "a"}
	made.CurrentContext = "a"
	return *made
}

// write creates an object that may be there already.
func write(t *testing.T, object client.Object) {
	t.Helper()
	if err := client.IgnoreAlreadyExists(cluster.Client.Create(t.Context(), object)); err != nil {
		t.Fatal(err)
	}
}

// report writes the status of an object, which a controller may be writing too.
func report(t *testing.T, object, before client.Object) {
	t.Helper()
	if err := cluster.Client.Status().Patch(t.Context(), object, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}
