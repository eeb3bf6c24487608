package tenantgitops_test

import (
	"context"
	"fmt"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	corev1 "k8s.io/api/core/v1"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

// bindingsElsewhere lists what is stamped for a tenant in other namespaces.
func bindingsElsewhere(t *testing.T, tenant string) []string {
	t.Helper()
	var found []string
	for _, list := range []client.ObjectList{&rbacv1.RoleList{}, &rbacv1.RoleBindingList{}} {
		if err := cluster.Client.List(t.Context(), list, client.MatchingLabels{stamp.TenantLabel: tenant}); err != nil {
			t.Fatal(err)
		}
		for _, obj := range items(t, list) {
			if obj.GetNamespace() != tenant {
				found = append(found, fmt.Sprintf("%T %s", obj, client.ObjectKeyFromObject(obj)))
			}
		}
	}
	return found
}

// TestSourceMayTargetATenantBelow applies into a child, moves home, and looks
// that the git account is in the child's namespace for exactly as long.
func TestSourceMayTargetATenantBelow(t *testing.T) {
	harness.WithOperator(t, cluster, harness.Config())
	git := harness.NewGitServer(t)
	const parent, child = "tenant-target", "tenant-target-child"
	harness.NewTenant(t, cluster.Client, child)
	repository, commit := harness.NewRepository(t, git, "target", map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")})
	home := harness.HTTPS(t, cluster.Client, git, parent, "home", repository)
	below := harness.HTTPS(t, cluster.Client, git, parent, "below", repository)
	below.TargetNamespace = child
	below.DeletionPolicy = "Delete"
	harness.Write(t, cluster.Client, parent, home, below)
	harness.AwaitApplied(t, cluster.Client, parent, commit)
	for _, namespace := range []string{parent, child} {
		if !exists(t, fixtures.Application("Postgres", namespace, "db")) {
			t.Errorf("no application in %s", namespace)
		}
	}
	// The source leaves: what it applied is deleted with the rights it had, and
	// then the rights go.
	harness.Write(t, cluster.Client, parent, home)
	harness.AwaitGone(t, cluster.Client, fixtures.Application("Postgres", child, "db"))
	harness.Await(t, "the git account to leave the child's namespace", func(context.Context) (bool, string) {
		left := bindingsElsewhere(t, parent)
		return len(left) == 0, fmt.Sprint(left)
	})
	if !exists(t, fixtures.Application("Postgres", parent, "db")) {
		t.Error("the parent's own application is gone")
	}
}

// TestMovedTargetIsPrunedWhereItWas moves a source from a child to the parent:
// the account stays in the child's namespace until what it applied is pruned.
func TestMovedTargetIsPrunedWhereItWas(t *testing.T) {
	harness.WithOperator(t, cluster, harness.Config())
	git := harness.NewGitServer(t)
	const parent, child = "tenant-move", "tenant-move-child"
	harness.NewTenant(t, cluster.Client, child)
	repository, commit := harness.NewRepository(t, git, "move", map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")})
	source := harness.HTTPS(t, cluster.Client, git, parent, "apps", repository)
	source.TargetNamespace = child
	harness.Write(t, cluster.Client, parent, source)
	harness.AwaitApplied(t, cluster.Client, parent, commit)

	source.TargetNamespace = ""
	harness.Write(t, cluster.Client, parent, source)
	harness.AwaitGone(t, cluster.Client, fixtures.Application("Postgres", child, "db"))
	harness.AwaitExists(t, cluster.Client, fixtures.Application("Postgres", parent, "db"))
	harness.Await(t, "the git account to leave the child's namespace", func(context.Context) (bool, string) {
		left := bindingsElsewhere(t, parent)
		return len(left) == 0, fmt.Sprint(left)
	})
}

// TestTargetThatOnlyLooksLikeAChildIsRefused gives a source the namespace of a
// tenant whose name begins like the parent's and whose labels say otherwise. The
// names pass the policy; the operator looks at the labels.
func TestTargetThatOnlyLooksLikeAChildIsRefused(t *testing.T) {
	harness.WithOperator(t, cluster, harness.Config())
	const parent, other = "tenant-looks", "tenant-looks-alike"
	harness.NewTenant(t, cluster.Client, parent)
	if err := cluster.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: other}}); err != nil {
		t.Fatal(err)
	}
	source := unreachable("apps")
	source.TargetNamespace = other
	harness.Write(t, cluster.Client, parent, source)
	harness.AwaitCondition(t, cluster.Client, parent, metav1.ConditionFalse, "TargetNamespaceRefused")
	if found := bindingsElsewhere(t, parent); len(found) > 0 {
		t.Errorf("the git account is bound elsewhere: %v", found)
	}

	// The label comes: the source goes on. The label goes: so does the account.
	label := func(value any) {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: other}}
		patch := fmt.Sprintf(`{"metadata":{"labels":{"tenant.cozystack.io/%s":%v}}}`, parent, value)
		if err := cluster.Client.Patch(t.Context(), ns, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
			t.Fatal(err)
		}
	}
	label(`""`)
	harness.Await(t, "the git account in the child's namespace", func(context.Context) (bool, string) {
		found := bindingsElsewhere(t, parent)
		return len(found) == 3, fmt.Sprint(found)
	})
	label("null")
	harness.Await(t, "the git account to leave", func(context.Context) (bool, string) {
		found := bindingsElsewhere(t, parent)
		return len(found) == 0, fmt.Sprint(found)
	})
	harness.AwaitCondition(t, cluster.Client, parent, metav1.ConditionFalse, "TargetNamespaceRefused")
}

// TestChildCalledGitopsIsTargetedLikeAnyOther: the platform calls objects in the child's
// namespace as the parent's git account.
func TestChildCalledGitopsIsTargetedLikeAnyOther(t *testing.T) {
	harness.WithOperator(t, cluster, harness.Config())
	git := harness.NewGitServer(t)
	const parent, child = "tenant-same", "tenant-same-gitops"
	harness.NewTenant(t, cluster.Client, child)
	repository, commit := harness.NewRepository(t, git, "same", map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")})
	below := harness.HTTPS(t, cluster.Client, git, parent, "below", repository)
	below.TargetNamespace = child
	harness.Write(t, cluster.Client, parent, below)
	harness.AwaitApplied(t, cluster.Client, parent, commit)

	home := harness.HTTPS(t, cluster.Client, git, parent, "home", repository)
	harness.Write(t, cluster.Client, parent, home)
	harness.Await(t, "the git account to leave the child's namespace", func(context.Context) (bool, string) {
		left := bindingsElsewhere(t, parent)
		return len(left) == 0, fmt.Sprint(left)
	})
	platforms := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: child, Name: child}}
	if !exists(t, platforms) || platforms.RoleRef.Kind != "ClusterRole" {
		t.Error("the platform's own binding of that name is gone, or another one")
	}
}
