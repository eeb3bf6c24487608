package customizer_test

import (
	"slices"
	"testing"

	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestRepositoryIsApplied: what is in the repository comes, is put right, and goes with its file.
func TestRepositoryIsApplied(t *testing.T) {
	t.Parallel()
	const name = "applied"
	c, repository := newCustomizer(t, name, map[string]string{
		"values.yaml":   packageValues("acme.applied"),
		"priority.yaml": priorityClass("acme-applied", 10),
		"config.yaml":   configMap("acme-applied", "config"),
	})
	c.Spec.RBAC.OwnedNamespaces = []string{"acme-applied"}
	create(t, c)
	head, err := repository.Head()
	if err != nil {
		t.Fatal(err)
	}
	applied := awaitApplied(t, name, head)
	if status := applied.Status; status.Objects != 3 || status.LastAppliedAt == nil || status.Revision != status.AppliedRevision ||
		!slices.Equal(status.OwnedNamespaces, []string{"acme-applied"}) || status.Account == "" {
		t.Errorf("the status is %+v", status)
	}
	if !slices.Contains(applied.Status.UnresolvedRules, "ipaddresspools.metallb.io") || slices.Contains(applied.Status.UnresolvedRules, "packages.cozystack.io") {
		t.Errorf("unresolved are %v", applied.Status.UnresolvedRules)
	}
	wantThere(t, &cozyv1.PackageValues{ObjectMeta: metav1.ObjectMeta{Name: "acme.applied"}})
	wantThere(t, configMapOf("acme-applied", "config"))
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "acme-applied"}}
	wantThere(t, class)

	commit := push(t, name, repository, map[string]string{"config.yaml": configMap("acme-applied", "other")}, "priority.yaml")
	awaitApplied(t, name, commit)
	harness.AwaitGone(t, cluster.Client, class)
	harness.AwaitGone(t, cluster.Client, configMapOf("acme-applied", "config"))
	wantThere(t, configMapOf("acme-applied", "other"))
	if objects := read(t, name).Status.Objects; objects != 2 {
		t.Errorf("there are %d objects", objects)
	}
}

// TestSuspended: nothing is fetched nor applied, and what was applied stays.
func TestSuspended(t *testing.T) {
	t.Parallel()
	const name = "suspended"
	c, repository := newCustomizer(t, name, map[string]string{"a.yaml": packageValues("acme.suspended")})
	create(t, c)
	awaitState(t, name, metav1.ConditionTrue, gitopsv1.ReasonSucceeded)
	change(t, c, func(spec *gitopsv1.CustomizerSpec) { spec.Suspend = true })
	awaitState(t, name, metav1.ConditionTrue, gitopsv1.ReasonSuspended)
	commit := harness.Commit(t, repository, map[string]string{"b.yaml": packageValues("acme.suspended-not")}, "a.yaml")
	request(t, name)
	wantThere(t, &cozyv1.PackageValues{ObjectMeta: metav1.ObjectMeta{Name: "acme.suspended"}})
	change(t, c, func(spec *gitopsv1.CustomizerSpec) { spec.Suspend = false })
	request(t, name)
	awaitApplied(t, name, commit)
	harness.AwaitGone(t, cluster.Client, &cozyv1.PackageValues{ObjectMeta: metav1.ObjectMeta{Name: "acme.suspended"}})
}
