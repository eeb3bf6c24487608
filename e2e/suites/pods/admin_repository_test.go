//go:build kind

package pods_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/manifests"
)

// byHand is what an admin has made of the Package acme.web before there is a repository.
const byHand = `
apiVersion: v1
kind: Namespace
metadata:
  name: cozy-acme-web
---
apiVersion: v1
kind: Secret
metadata:
  namespace: cozy-acme-web
  name: cozystack-values
stringData:
  values.yaml: "domain: example.org"
---
apiVersion: cozystack.io/v1alpha1
kind: PackageSource
metadata:
  name: acme.web
spec:
  variants:
  - name: default
    components:
    - name: web
      path: web
      install: {namespace: cozy-acme-web}
---
apiVersion: cozystack.io/v1alpha1
kind: Package
metadata:
  name: acme.web
spec:
  variant: default
  components:
    web:
      values: {host: old.example.org, replicas: 1, tier: silver}
`

// adminFiles are the repository's.
var adminFiles = map[string]string{
	// One of the two values of the Package that somebody else made.
	"packages/web.yaml": `
apiVersion: cozystack.io/v1alpha1
kind: Package
metadata:
  name: acme.web
spec:
  components:
    web:
      values: {host: www.example.org}
`,
	"values/web.yaml": `
apiVersion: cozystack.io/v1alpha1
kind: PackageValues
metadata:
  name: acme.web
spec:
  components:
    web:
      values: {replicas: 3}
`,
	"packages/platform.yaml": `
apiVersion: cozystack.io/v1alpha1
kind: Package
metadata:
  name: cozystack.cozystack-platform
spec:
  components:
    platform:
      values:
        publishing: {host: new.example.org}
`,
	"cluster/priority.yaml": `
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata:
  name: acme-web
value: 100000
`,
	"own/contacts.yaml": `
apiVersion: v1
kind: ConfigMap
metadata:
  namespace: acme-web
  name: contacts
data:
  mail: web@example.org
`,
}

// TestAdminRepositoryIsApplied: the Package is patched, the PackageValues are effective, the
// cluster's own resource is there, and goes with its file. Without the Customizer all stays, and
// one that is made again goes on.
func TestAdminRepositoryIsApplied(t *testing.T) {
	t.Parallel()
	layByHand(t)
	awaitWebValues(t, map[string]any{"domain": "example.org", "host": "old.example.org", "replicas": 1.0, "tier": "silver"})

	const name = "admin"
	c, repository, commit := stage.NewCustomizer(t, name, adminFiles)
	// It looks at the bootstrap Package, as one does that is told nothing else.
	c.Spec.Kustomization.HealthChecks = nil
	c.Spec.RBAC.OwnedNamespaces = []string{"acme-web"}
	c.Spec.Guards = gitopsv1.CustomizerGuards{SupplyChain: true, PackageFields: true}
	harness.CreateCustomizer(t, stage.Client, c)
	applied := harness.AwaitCustomizer(t, stage.Client, name, metav1.ConditionTrue, gitopsv1.ReasonSucceeded, commit)
	if applied.Status.Objects != int64(len(adminFiles)) {
		t.Errorf("%d objects are applied, want %d", applied.Status.Objects, len(adminFiles))
	}
	overridden := map[string]any{"domain": "example.org", "host": "www.example.org", "replicas": 3.0, "tier": "silver"}
	awaitWebValues(t, overridden)
	wantBootstrap(t)
	priority := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "acme-web"}}
	harness.AwaitExists(t, stage.Client, priority)
	contacts := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "acme-web", Name: "contacts"}}
	harness.AwaitExists(t, stage.Client, contacts)

	commit = pushAdmin(t, repository, nil, "cluster/priority.yaml", "packages/platform.yaml")
	harness.AwaitCustomizer(t, stage.Client, name, metav1.ConditionTrue, gitopsv1.ReasonSucceeded, commit)
	harness.AwaitGone(t, stage.Client, priority)
	wantBootstrap(t)

	disableAndEnable(t, c, repository, overridden, contacts.UID)

	commit = pushAdmin(t, repository, nil, "values/web.yaml")
	harness.AwaitCustomizer(t, stage.Client, name, metav1.ConditionTrue, gitopsv1.ReasonSucceeded, commit)
	harness.AwaitGone(t, stage.Client, &cozyv1.PackageValues{ObjectMeta: metav1.ObjectMeta{Name: "acme.web"}})
	awaitWebValues(t, map[string]any{"domain": "example.org", "host": "www.example.org", "replicas": 1.0, "tier": "silver"})
}

// disableAndEnable deletes the Customizer and makes it again, after another commit. Nothing of
// what it applied is made anew.
func disableAndEnable(t *testing.T, c *gitopsv1.Customizer, repository *gitserver.Repository, values map[string]any, contacts types.UID) {
	t.Helper()
	if err := stage.Client.Delete(t.Context(), c.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	harness.AwaitGone(t, stage.Client, c.DeepCopy())
	commit := harness.Commit(t, repository, map[string]string{"own/contacts.yaml": strings.ReplaceAll(adminFiles["own/contacts.yaml"], "web@", "team@")})
	kept := &corev1.ConfigMap{}
	if err := stage.Client.Get(t.Context(), client.ObjectKey{Namespace: "acme-web", Name: "contacts"}, kept); err != nil || kept.UID != contacts || kept.Data["mail"] != "web@example.org" {
		t.Errorf("without a Customizer there is %v: %v", kept.Data, err)
	}
	awaitWebValues(t, values)

	again := c.DeepCopy()
	again.ObjectMeta = metav1.ObjectMeta{Name: c.Name}
	harness.CreateCustomizer(t, stage.Client, again)
	harness.AwaitCustomizer(t, stage.Client, c.Name, metav1.ConditionTrue, gitopsv1.ReasonSucceeded, commit)
	if err := stage.Client.Get(t.Context(), client.ObjectKeyFromObject(kept), kept); err != nil || kept.UID != contacts || kept.Data["mail"] != "team@example.org" {
		t.Errorf("the Customizer that was made again leaves %v: %v", kept.Data, err)
	}
	awaitWebValues(t, values)
}

func pushAdmin(t *testing.T, repository *gitserver.Repository, files map[string]string, removed ...string) string {
	t.Helper()
	commit := harness.Commit(t, repository, files, removed...)
	harness.RequestCustomizer(t, stage.Client, "admin")
	return commit
}

// layByHand makes the Package as an admin does; it is gone when the test ends.
func layByHand(t *testing.T) {
	t.Helper()
	decoded, err := manifests.Decode([]byte(byHand))
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range decoded {
		if err := manifests.ApplyAs(t.Context(), stage.Client, "kubectl", object); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, object := range decoded {
			if err := stage.Client.Delete(context.Background(), object); client.IgnoreNotFound(err) != nil {
				t.Error(err)
			}
		}
	})
}

// awaitWebValues waits until Helm has rendered the release of acme.web with values.
func awaitWebValues(t *testing.T, want map[string]any) {
	t.Helper()
	harness.Await(t, fmt.Sprintf("acme.web to be rendered with %v", want), func(ctx context.Context) (bool, string) {
		rendered := &corev1.ConfigMap{}
		if err := stage.Client.Get(ctx, client.ObjectKey{Namespace: "cozy-acme-web", Name: "web-values"}, rendered); err != nil {
			return false, err.Error()
		}
		got := map[string]any{}
		if err := yaml.Unmarshal([]byte(rendered.Data["values.yaml"]), &got); err != nil {
			return false, err.Error()
		}
		// What the chart has of its own.
		delete(got, "fail")
		delete(got, "notReady")
		return reflect.DeepEqual(got, want), fmt.Sprint(got)
	})
}

// wantBootstrap says that the bootstrap Package has the value of the repository, and the one
// that only the admin has given.
func wantBootstrap(t *testing.T) {
	t.Helper()
	bootstrap := &unstructured.Unstructured{}
	bootstrap.SetAPIVersion("cozystack.io/v1alpha1")
	bootstrap.SetKind("Package")
	if err := stage.Client.Get(t.Context(), client.ObjectKey{Name: "cozystack.cozystack-platform"}, bootstrap); err != nil {
		t.Fatal(err)
	}
	publishing, _, err := unstructured.NestedMap(bootstrap.Object, "spec", "components", "platform", "values", "publishing")
	if want := map[string]any{"host": "new.example.org", "apiServerEndpoint": "https://192.0.2.10:6443"}; err != nil || !reflect.DeepEqual(publishing, want) {
		t.Errorf("the bootstrap Package publishes %v, want %v: %v", publishing, want, err)
	}
}
