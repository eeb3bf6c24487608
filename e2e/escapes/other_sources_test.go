package escapes_test

import (
	"context"
	"fmt"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/manifests"
	"github.com/cozystack/gitops-operator/internal/operator"
)

const sourceGroup = "source.toolkit.fluxcd.io"

// grantOtherSources makes a person to whom somebody has granted the kinds of sources that
// tenants do not have, so that the layers behind the roles are tried.
func grantOtherSources(t *testing.T, tenant string) client.Client {
	t.Helper()
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: "other-sources"},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{sourceGroup}, Resources: []string{"buckets", "externalartifacts", "helmrepositories", "helmcharts"}, Verbs: []string{"create"},
		}},
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: role.ObjectMeta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "bob"}},
	}
	if err := manifests.Apply(t.Context(), cluster.Client, role, binding); err != nil {
		t.Fatal(err)
	}
	config, err := cluster.UserConfig("bob")
	if err != nil {
		t.Fatal(err)
	}
	bob, err := client.New(config, client.Options{Scheme: operator.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return bob
}

// writeOtherSources returns what came of each kind of source that tenants do not have.
func writeOtherSources(t *testing.T, bob client.Client, tenant string) map[string]answer {
	t.Helper()
	answers := map[string]answer{}
	for _, try := range peopleTries(tenant) {
		object := try.object(t)
		if object.GroupVersionKind().Group != sourceGroup {
			continue
		}
		harness.Await(t, "the right to write "+try.what, func(ctx context.Context) (bool, string) {
			err := bob.Create(ctx, object.DeepCopy(), client.DryRunAll)
			got, _ := answerTo(object, func(*unstructured.Unstructured) {}, err)
			answers[try.what] = got
			return got != byRoles && got != "", fmt.Sprint(err)
		})
	}
	return answers
}
