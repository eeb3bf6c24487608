package tenantgitops

import (
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/helmrelease"
	"github.com/cozystack/gitops-operator/internal/pruneguard"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

// TestWhoseHealthIsWaitedFor: what is to be pruned is not, and without wait only what is
// listed.
func TestWhoseHealthIsWaitedFor(t *testing.T) {
	const namespace = "tenant-acme"
	k := &kustomizev1.Kustomization{}
	k.Status.Inventory = &kustomizev1.ResourceInventory{}
	for _, name := range []string{"db", "cache", "gone"} {
		k.Status.Inventory.Entries = append(k.Status.Inventory.Entries, kustomizev1.ResourceRef{
			ID: namespace + "_" + name + "_" + stamp.ApplicationsGroup + "_Redis", Version: "v1alpha1",
		})
	}
	gone := pruneguard.Application{Namespace: namespace, Name: "gone", Kind: "Redis"}
	stays := staying(k, &gitopsv1.PruneStatus{Names: []string{gone.String()}})
	if len(stays) != 2 {
		t.Fatalf("%v stay, want the two that are not to be pruned", stays)
	}
	listed := []meta.NamespacedObjectKindReference{
		{Kind: "Redis", Name: "cache", Namespace: namespace},
		{Kind: "Redis", Name: "db", Namespace: "tenant-other"},
		{Kind: "Postgres", Name: "db", Namespace: namespace},
	}
	for name, tc := range map[string]struct {
		source gitopsv1.Source
		want   int
	}{
		"neither wait nor checks": {gitopsv1.Source{}, 0},
		"wait":                    {gitopsv1.Source{Wait: true}, 2},
		"one of them is listed":   {gitopsv1.Source{HealthChecks: listed}, 1},
		"wait goes before checks": {gitopsv1.Source{Wait: true, HealthChecks: listed}, 2},
	} {
		if got := awaitedOf(tc.source, stays); len(got) != tc.want {
			t.Errorf("%s: %v are waited for, want %d", name, got, tc.want)
		}
	}
}

// TestAllReady: each has a release, and whatever stands for one is ready.
func TestAllReady(t *testing.T) {
	db := pruneguard.Application{Namespace: "tenant-acme", Name: "db", Kind: "Redis"}
	release := func(name string, ready metav1.ConditionStatus) helmrelease.HelmRelease {
		r := helmrelease.HelmRelease{ObjectMeta: metav1.ObjectMeta{Namespace: db.Namespace, Name: name, Labels: map[string]string{
			helmrelease.GroupLabel: stamp.ApplicationsGroup, helmrelease.KindLabel: db.Kind, helmrelease.NameLabel: db.Name,
		}}}
		r.Status.Conditions = []metav1.Condition{{Type: meta.ReadyCondition, Status: ready}}
		return r
	}
	is, isNot := release("redis-db", metav1.ConditionTrue), release("other-db", metav1.ConditionFalse)
	for name, tc := range map[string]struct {
		releases []helmrelease.HelmRelease
		want     bool
	}{
		"ready":                    {[]helmrelease.HelmRelease{is}, true},
		"not ready":                {[]helmrelease.HelmRelease{isNot}, false},
		"no release yet":           {nil, false},
		"two, the first not ready": {[]helmrelease.HelmRelease{isNot, is}, false},
		"two, the last not ready":  {[]helmrelease.HelmRelease{is, isNot}, false},
	} {
		if got := allReady([]pruneguard.Application{db}, tc.releases); got != tc.want {
			t.Errorf("%s: all ready is %t, want %t", name, got, tc.want)
		}
	}
}
