package secrettheft_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/attempts"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/operator"
)

const (
	tenant = "tenant-thief"
	// robbed is another tenant, whose Secrets are wanted too.
	robbed = "tenant-robbed"
)

// attack is a theft of one Secret.
type attack struct {
	theft
	canary
	// object that names the Secret.
	object *unstructured.Unstructured
}

// newAttack lays in the Secret, and makes the object. Its name is the Secret's where the
// thief is to find it, and named where it is spelled otherwise.
func newAttack(t *testing.T, thief *thiefServer, how theft, namespace, secret, named string) attack {
	t.Helper()
	of := canary{word: "canary-" + rand.String(12), namespace: namespace, secret: secret}
	if err := cluster.Client.Create(t.Context(), secretWith(t, of, how, thief)); err != nil {
		t.Fatal(err)
	}
	object := map[string]func(string) *unstructured.Unstructured{
		"GitRepository": attempts.GitRepository, "OCIRepository": attempts.OCIRepository,
		"Kustomization": attempts.Kustomization, "TenantGitOps": attempts.TenantGitOps,
	}[how.kind](tenant)
	if how.kind != "TenantGitOps" {
		object.SetName("theft-" + rand.String(6))
	}
	attempts.Set(object, false, "spec", "suspend")
	if how.kind == "Kustomization" {
		attempts.Set(object, "./"+how.path, "spec", "path")
		attempts.Set(object, tenant, "spec", "targetNamespace")
		attempts.Set(object, object.GetName()+"-", "spec", "namePrefix")
	}
	how.name(named, thief)(object)
	return attack{how, of, object}
}

// person is an admin of the tenant.
func person(t *testing.T) client.Client {
	t.Helper()
	config, err := cluster.UserConfig("alice", tenant+"-admin")
	if err != nil {
		t.Fatal(err)
	}
	made, err := client.New(config, client.Options{Scheme: operator.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// whoRefuses names what refused a write.
func whoRefuses(err error) string {
	switch {
	case err == nil:
		return "nobody"
	case strings.Contains(err.Error(), "ValidatingAdmissionPolicy"):
		return "policy"
	case strings.Contains(err.Error(), "admission webhook"):
		return "webhook"
	case apierrors.IsInvalid(err):
		return "schema"
	}
	return "error: " + err.Error()
}

// rule is what the sentence of a refusal has to speak of, so that it is none for another
// reason.
func (how theft) rule() string {
	if how.kind == "TenantGitOps" {
		return gitopsv1.SecretSuffix
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(how.field, how.kind+"."), ".")
	return "spec." + first
}

// awaitReconciled waits until a controller has said what became of an object.
func awaitReconciled(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	harness.Await(t, fmt.Sprintf("the verdict about %s %s", object.GetKind(), object.GetName()), func(ctx context.Context) (bool, string) {
		live := object.DeepCopy()
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(object), live); err != nil {
			return false, err.Error()
		}
		conditions, _, err := unstructured.NestedSlice(live.Object, "status", "conditions")
		if err != nil {
			return false, err.Error()
		}
		for _, condition := range conditions {
			said := condition.(map[string]any)
			if said["type"] == "Ready" && said["status"] != "Unknown" && said["observedGeneration"] == live.GetGeneration() {
				return true, ""
			}
		}
		// What it says is not shown: a canary could be in it.
		return false, fmt.Sprintf("%d conditions", len(conditions))
	})
}

// layOut makes the tenants, an account for each Secret of type dockerconfigjson, and the
// repository of Kustomizations.
func layOut(t *testing.T, thief *thiefServer) (alice client.Client, apps gitopsv1.Source) {
	t.Helper()
	harness.NewTenant(t, cluster.Client, tenant)
	harness.NewTenant(t, cluster.Client, robbed)
	alice = person(t)
	harness.WriteSecret(t, cluster.Client, tenant, authoritySecret, map[string]string{"ca.crt": thief.authority})
	git := harness.NewGitServer(t)
	repository, _ := harness.NewRepository(t, git, "acme/thief", repositoryOfThief(thief))
	thief.repository = repository.HTTPSURL()
	apps = harness.HTTPS(t, cluster.Client, git, tenant, "apps", repository)
	apps.Path = "./app"
	harness.Await(t, "the tenant's admin to switch GitOps on", func(ctx context.Context) (bool, string) {
		err := attempts.Store(ctx, alice, attempts.TenantGitOps(tenant))
		return err == nil, fmt.Sprint(err)
	})
	harness.Write(t, cluster.Client, tenant, apps)
	// The last that the operator makes: from then on the policies know of the TenantGitOps.
	harness.AwaitExists(t, cluster.Client, &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: "gitops-apps"}})
	good := attempts.GitRepository(tenant)
	attempts.Set(good, repository.HTTPURL(), "spec", "url")
	attempts.Set(good, map[string]any{"branch": "main"}, "spec", "ref")
	attempts.Set(good, false, "spec", "suspend")
	if err := cluster.Client.Create(t.Context(), good); err != nil {
		t.Fatal(err)
	}
	awaitReconciled(t, good)
	return alice, apps
}

// accountOf is the account that OCIRepository.serviceAccountName names.
func accountOf(t *testing.T, of canary) {
	t.Helper()
	account := &corev1.ServiceAccount{ImagePullSecrets: []corev1.LocalObjectReference{{Name: of.secret}}}
	account.Namespace, account.Name = of.namespace, of.secret
	if err := cluster.Client.Create(t.Context(), account); err != nil {
		t.Fatal(err)
	}
}
