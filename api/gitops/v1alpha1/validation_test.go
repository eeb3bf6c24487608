package v1alpha1_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// goodGit is the part of a source that most wrong manifests spoil elsewhere.
const goodGit = "git: {url: 'https://git.example.org/acme/apps', ref: {branch: main}}"

func tenantGitOps(namespace, sources string) string {
	return fmt.Sprintf("apiVersion: gitops.cozystack.io/v1alpha1\nkind: TenantGitOps\nmetadata: {name: gitops, namespace: %s}\nspec:\n  sources:\n%s", namespace, sources)
}

// TestWrongManifestsAreRefusedWithTheMend applies manifests that a person may
// well write. Each must be refused when it is applied, by a sentence that says
// what to write instead.
func TestWrongManifestsAreRefusedWithTheMend(t *testing.T) {
	namespace := createNamespace(t, "tenant-wrong")
	awaitPolicy(t, namespace)
	one := func(fields ...string) string {
		return tenantGitOps(namespace, "  - {name: apps, "+strings.Join(fields, ", ")+"}")
	}
	git := func(fields string) string { return one("git: {" + fields + "}") }

	for _, tc := range []struct{ name, manifest, want string }{
		{"another name", strings.Replace(one(goodGit), "name: gitops,", "name: my-gitops,", 1), "set metadata.name to gitops"},
		{"no source", strings.Replace(tenantGitOps(namespace, ""), "sources:", "sources: []", 1), "should have at least 1 items"},
		{"21 sources", tenantGitOps(namespace, manySources(21)), "must have at most 20 items"},
		{"two sources of one name", tenantGitOps(namespace, "  - {name: apps, "+goodGit+"}\n  - {name: apps, "+goodGit+"}"), "Duplicate value"},
		{"a name with capitals", strings.Replace(one(goodGit), "name: apps", "name: Apps", 1), "lower-case letters, digits and dashes"},
		{"a name of 41 characters", strings.Replace(one(goodGit), "name: apps", "name: "+strings.Repeat("a", 41), 1), "40"},
		{"neither git nor oci", one("path: ./"), "set exactly one of git and oci"},
		{"git and oci", one(goodGit, "oci: {url: 'oci://registry.example.org/acme/apps'}"), "set exactly one of git and oci"},
		{"an scp-style url", git("url: 'git@git.example.org:acme/apps', deployKey: Generate, knownHosts: x"), "write git@host:path as ssh://git@host/path"},
		{"plain http", git("url: 'http://git.example.org/acme/apps'"), "must start with https:// or ssh://"},
		{"a password in the url", git("url: 'https://acme:secret@git.example.org/apps'"), "put username and password into a Secret"},
		{"a password in an ssh url", git("url: 'ssh://git:secret@git.example.org/apps', deployKey: Generate, knownHosts: x"), "must not hold a password"},
		{"a password in an ssh url, after a user with an @", git("url: 'ssh://g@t:secret@git.example.org/apps', deployKey: Generate, knownHosts: x"), "must not hold a password"},
		{"a url without a host", git("url: 'https:///acme/apps'"), "and a host"},
		{"a url with a blank", git("url: 'https://git.example.org/acme apps'"), "percent-encoded"},
		{"a url with a control character", git("url: \"https://git.example.org/acme\\x7f\""), "percent-encoded"},
		{"a short commit", git("url: 'https://git.example.org/a', ref: {commit: 4c2f1d9}"), "git rev-parse HEAD"},
		{"ssh without a key", git("url: 'ssh://git@git.example.org/acme/apps'"), "set deployKey: Generate, or name a Secret"},
		{"a Secret of an application", git("url: 'https://git.example.org/a', secretRef: {name: postgres-db-credentials}"), "must be called <something>.gitops"},
		{"a deploy key over https", git("url: 'https://git.example.org/a', deployKey: Generate, knownHosts: x"), "needs an ssh:// url"},
		{"a deploy key without known hosts", git("url: 'ssh://git@git.example.org/a', deployKey: Generate"), "ssh-keyscan"},
		{"a deploy key and a Secret", git("url: 'ssh://git@git.example.org/a', deployKey: Generate, knownHosts: x, secretRef: {name: a.gitops}"), "remove secretRef, or remove deployKey"},
		{"known hosts without a deploy key", git("url: 'ssh://git@git.example.org/a', knownHosts: x, secretRef: {name: a.gitops}"), "with secretRef put known_hosts into that Secret"},
		{"a branch and a tag", git("url: 'https://git.example.org/a', ref: {branch: main, tag: v1}"), "more than one of branch, tag, semver and name"},
		{"an interval of a second", git("url: 'https://git.example.org/a', interval: 1s"), "between 30s and 24h"},
		{"an interval without a unit", git("url: 'https://git.example.org/a', interval: '30'"), "should match"},
		{"an interval of a month", one(goodGit, "interval: 720h"), "between 30s and 24h"},
		{"a timeout of two hours", one(goodGit, "timeout: 2h"), "between 30s and 1h"},
		{"a timeout that Flux would lengthen", one(goodGit, "timeout: 5s"), "between 30s and 1h"},
		{"a verification Secret of another name", git("url: 'https://git.example.org/a', verify: {mode: HEAD, secretRef: {name: keys}}"), "verification keys must be called <something>.gitops"},
		{"a way out of the repository", one(goodGit, "path: ../../etc"), "remove the '..' parts"},
		{"an oci url with a digest", one("oci: {url: 'oci://registry.example.org/a@sha256:00'}"), "put the digest into ref.digest"},
		{"an oci Secret of another name", one("oci: {url: 'oci://registry.example.org/a', certSecretRef: {name: ca}}"), "must be called <something>.gitops"},
		{"a dependency on itself", one(goodGit, "dependsOn: [apps]"), "cannot depend on itself"},
		{"a dependency on nobody", one(goodGit, "dependsOn: [databases]"), "names a source that is not in this list"},
		{"an unknown deletion policy", one(goodGit, "deletionPolicy: Keep"), "\"Orphan\", \"Delete\", \"WaitForTermination\", \"MirrorPrune\""},
		{"decryption without a key", one(goodGit, "decryption: {provider: sops}"), "set either secretRef, or ageKey: Generate"},
		{"an oci url with a tag", one("oci: {url: 'oci://registry.example.org:5000/acme/apps:v1'}"), "put it into ref.tag"},
		{"health checks beside wait", one(goodGit, "wait: true", "healthChecks: [{apiVersion: apps.cozystack.io/v1alpha1, kind: Postgres, name: db}]"), "remove wait, or remove healthChecks"},
		{"a label that Flux goes by", one(goodGit, "commonMetadata: {labels: {kustomize.toolkit.fluxcd.io/name: other}}"), "labels that Flux goes by"},
		{"decryption with a Secret of another name", one(goodGit, "decryption: {secretRef: {name: keys}}"), "must be called <something>.gitops"},
		{"substitution from a Secret of another name", one(goodGit, "postBuild: {substituteFrom: [{kind: Secret, name: tenant-wrong}]}"), "must be called <something>.gitops"},
		{"a health check of a Deployment", one(goodGit, "healthChecks: [{apiVersion: apps/v1, kind: Deployment, name: a}]"), "applications (apiVersion apps.cozystack.io/v1alpha1) and HelmReleases"},
		{"a misspelt field", one(goodGit, "pruning: true"), "unknown field"},
		{"the namespace of a sibling", one(goodGit, "targetNamespace: tenant-other"), "is neither tenant-wrong nor a tenant below it"},
		{"the namespace of the parent", one(goodGit, "targetNamespace: tenant-root"), "is neither tenant-wrong nor a tenant below it"},
		{"a system namespace", one(goodGit, "targetNamespace: kube-system"), "is neither tenant-wrong nor a tenant below it"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := applyStrictly(t, tc.manifest)
			if err == nil {
				t.Fatalf("the manifest was accepted:\n%s", tc.manifest)
			}
			if !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) && !apierrors.IsForbidden(err) {
				t.Errorf("refused, but by %v", err)
			}
			if !strings.Contains(err.Error(), tc.want) {
				t.Errorf("the refusal does not say %q:\n%v", tc.want, err)
			}
		})
	}
}

// TestGoodManifestsAreAcceptedWithDefaults applies the sample, and the least
// that can be written.
func TestGoodManifestsAreAcceptedWithDefaults(t *testing.T) {
	namespace := createNamespace(t, "tenant-acme")
	sample, err := os.ReadFile("../../../config/samples/tenantgitops.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := applyStrictly(t, string(sample)); err != nil {
		t.Fatalf("the sample is refused: %v", err)
	}
	if err := applyStrictly(t, tenantGitOps(namespace, "  - {name: apps, git: {url: 'https://git.example.org/acme/apps'}, targetNamespace: tenant-acme-child}")); err != nil {
		t.Fatalf("the least manifest is refused: %v", err)
	}
	stored := &unstructured.Unstructured{}
	stored.SetAPIVersion("gitops.cozystack.io/v1alpha1")
	stored.SetKind("TenantGitOps")
	if err := cluster.Client.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: "gitops"}, stored); err != nil {
		t.Fatal(err)
	}
	sources, _, _ := unstructured.NestedSlice(stored.Object, "spec", "sources")
	source := sources[0].(map[string]any)
	for field, want := range map[string]any{
		"path": "./", "interval": "10m", "retryInterval": "1m", "timeout": "5m", "prune": true, "deletionPolicy": "Orphan",
	} {
		if source[field] != want {
			t.Errorf("%s defaults to %v, want %v", field, source[field], want)
		}
	}
	if got := source["git"].(map[string]any)["interval"]; got != "1m" {
		t.Errorf("git.interval defaults to %v", got)
	}
}

func manySources(n int) string {
	var list strings.Builder
	for i := range n {
		fmt.Fprintf(&list, "  - {name: s%d, %s}\n", i, goodGit)
	}
	return list.String()
}

func createNamespace(t *testing.T, name string) string {
	t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := cluster.Client.Create(context.Background(), ns); err != nil {
		t.Fatal(err)
	}
	return name
}

// awaitPolicy waits until the API server enforces the policy, which it learns of
// some time after it is written.
func awaitPolicy(t *testing.T, namespace string) {
	t.Helper()
	probe := tenantGitOps(namespace, "  - {name: probe, "+goodGit+", targetNamespace: kube-system}")
	err := wait.PollUntilContextTimeout(context.Background(), 100*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
		return applyStrictly(t, probe) != nil, nil
	})
	if err != nil {
		t.Fatal("the policy is not enforced")
	}
}

// applyStrictly applies as `kubectl apply --server-side` does: unknown fields are
// errors.
func applyStrictly(t *testing.T, manifest string) error {
	t.Helper()
	obj := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(manifest), &obj.Object); err != nil {
		t.Fatalf("the test's manifest is no YAML: %v\n%s", err, manifest)
	}
	strict := client.WithFieldValidation(cluster.Client, metav1.FieldValidationStrict)
	existing := obj.DeepCopy()
	if err := cluster.Client.Get(context.Background(), client.ObjectKeyFromObject(obj), existing); err == nil {
		if err := cluster.Client.Delete(context.Background(), existing); err != nil {
			t.Fatal(err)
		}
	}
	return strict.Create(context.Background(), obj)
}
