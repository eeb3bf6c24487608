package isolation_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/attempts"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/manifests"
)

// TestOtherSourcesAreNotForTenants: kinds of sources that no tenant needs; the platform's
// own controllers write some of them beside their releases.
func TestOtherSourcesAreNotForTenants(t *testing.T) {
	const namespace = "tenant-othersources"
	newTenantAdmin(t, namespace)
	person := user(t, "alice", namespace+"-admin")
	platform := map[string]client.Client{"an admin of the platform": cluster.Client}
	for _, account := range []string{"cozy-fluxcd/flux", "cozy-system/cozystack-controller", "kube-system/generic-garbage-collector"} {
		platform[account] = user(t, "system:serviceaccount:"+strings.Replace(account, "/", ":", 1), "writes-other-sources")
	}
	own := user(t, "system:serviceaccount:"+namespace+":"+namespace, "writes-other-sources")
	grantOtherSources(t, namespace, namespace+"-admin", "writes-other-sources")
	for _, other := range otherSources(namespace) {
		t.Run(other.GetKind(), func(t *testing.T) {
			harness.Await(t, "the right to write it", func(ctx context.Context) (bool, string) {
				err := person.Create(ctx, other.DeepCopy(), client.DryRunAll)
				return refused(err) && strings.Contains(err.Error(), "list the repository in the TenantGitOps"), fmt.Sprint(err)
			})
			if err := own.Create(t.Context(), other.DeepCopy(), client.DryRunAll); !refused(err) {
				t.Errorf("the tenant's account: %v", err)
			}
			for who, c := range platform {
				if err := c.Create(t.Context(), other.DeepCopy(), client.DryRunAll); err != nil {
					t.Errorf("%s: %v", who, err)
				}
			}
			if err := cluster.Client.Create(t.Context(), other.DeepCopy()); err != nil {
				t.Fatal(err)
			}
			for _, way := range []string{"update", "patch"} {
				if err := write(t.Context(), way, person, other, attempts.Label("team", "acme")); err != nil {
					t.Errorf("a label, %s: %v", way, err)
				}
				if err := write(t.Context(), way, person, other, changedOtherSource); !refused(err) {
					t.Errorf("a change of the spec, %s: %v", way, err)
				}
			}
			if err := person.Delete(t.Context(), other.DeepCopy()); err != nil {
				t.Errorf("it cannot be deleted: %v", err)
			}
		})
	}
}

func otherSources(namespace string) []*object {
	specs := map[string]map[string]any{
		"Bucket":           {"bucketName": "acme", "endpoint": "s3.example.org", "interval": "10m", "suspend": true},
		"HelmRepository":   {"url": "https://charts.example.org", "interval": "10m", "suspend": true},
		"HelmChart":        {"chart": "db", "interval": "10m", "suspend": true, "sourceRef": map[string]any{"kind": "HelmRepository", "name": "acme"}},
		"ExternalArtifact": {"sourceRef": map[string]any{"apiVersion": "example.org/v1", "kind": "Maker", "name": "acme"}},
	}
	var objects []*object
	for _, kind := range slices.Sorted(maps.Keys(specs)) {
		objects = append(objects, &object{Object: map[string]any{
			"apiVersion": "source.toolkit.fluxcd.io/v1", "kind": kind,
			"metadata": map[string]any{"namespace": namespace, "name": "other"},
			"spec":     specs[kind],
		}})
	}
	return objects
}

// changedOtherSource changes something that decides what is fetched.
func changedOtherSource(o *object) {
	switch o.GetKind() {
	case "Bucket":
		attempts.Set(o, "other", "spec", "bucketName")
	case "HelmRepository":
		attempts.Set(o, "https://other.example.org", "spec", "url")
	case "HelmChart":
		attempts.Set(o, "other", "spec", "chart")
	default:
		attempts.Set(o, "other", "spec", "sourceRef", "name")
	}
}

// grantOtherSources lets groups write those kinds in a namespace, as no role of this
// operator does.
func grantOtherSources(t *testing.T, namespace string, groups ...string) {
	t.Helper()
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "other-sources"},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{"source.toolkit.fluxcd.io"}, Verbs: []string{"*"},
			Resources: []string{"buckets", "helmrepositories", "helmcharts", "externalartifacts"},
		}},
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: role.ObjectMeta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
	}
	for _, group := range groups {
		binding.Subjects = append(binding.Subjects, rbacv1.Subject{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: group})
	}
	if err := manifests.Apply(t.Context(), cluster.Client, role, binding); err != nil {
		t.Fatal(err)
	}
}
