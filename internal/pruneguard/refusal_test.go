package pruneguard

import (
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cozystack/gitops-operator/internal/stamp"
)

// TestRefusal goes through what lets a deletion pass.
func TestRefusal(t *testing.T) {
	grant := func(g Grant) func(*kustomizev1.Kustomization) {
		return func(k *kustomizev1.Kustomization) {
			k.Annotations = map[string]string{stamp.PruneGrantedAnnotation: g.Annotation()}
		}
	}
	mine := []string{application("app-000").String()}
	for _, test := range []struct {
		name   string
		change func(*kustomizev1.Kustomization)
		passes bool
	}{
		{name: "nothing granted", change: func(*kustomizev1.Kustomization) {}},
		{name: "granted", change: grant(Grant{Revision: "r1", Generation: 1, Applications: mine}), passes: true},
		{name: "confirmed", change: grant(Grant{Revision: "r1", Generation: 1, Confirmed: true}), passes: true},
		{name: "another is granted", change: grant(Grant{Revision: "r1", Generation: 1, Applications: []string{application("app-001").String()}})},
		{name: "granted at another revision", change: grant(Grant{Revision: "r0", Generation: 1, Applications: mine})},
		{name: "confirmed at another revision", change: grant(Grant{Revision: "r0", Generation: 1, Confirmed: true})},
		{name: "granted at another spec", change: grant(Grant{Revision: "r1", Generation: 2, Applications: mine})},
		{name: "a grant that cannot be read", change: func(k *kustomizev1.Kustomization) {
			k.Annotations = map[string]string{stamp.PruneGrantedAnnotation: "all"}
		}},
		{name: "a grant of no revision", change: func(k *kustomizev1.Kustomization) {
			k.Status.LastAttemptedRevision = ""
			k.Annotations = map[string]string{stamp.PruneGrantedAnnotation: `{"generation":1,"confirmed":true}`}
		}},
		{name: "the Kustomization is being deleted", change: func(k *kustomizev1.Kustomization) {
			now := metav1.Now()
			k.DeletionTimestamp = &now
		}, passes: true},
		{name: "a Kustomization written by hand", change: func(k *kustomizev1.Kustomization) { delete(k.Labels, stamp.SourceLabel) }, passes: true},
		{name: "labels of another tenant", change: func(k *kustomizev1.Kustomization) { k.Labels[stamp.TenantLabel] = "tenant-other" }, passes: true},
		{name: "two applications at most", change: func(k *kustomizev1.Kustomization) {
			k.Status.Inventory.Entries = k.Status.Inventory.Entries[:2]
		}, passes: true},
		{name: "other objects do not count", change: func(k *kustomizev1.Kustomization) {
			k.Status.Inventory.Entries = append(k.Status.Inventory.Entries[:2],
				kustomizev1.ResourceRef{ID: "tenant-acme_a__ConfigMap"}, kustomizev1.ResourceRef{ID: "_a_b.example.org_Kind"}, kustomizev1.ResourceRef{ID: ""})
		}, passes: true},
		{name: "not in the inventory", change: func(k *kustomizev1.Kustomization) {
			k.Status.Inventory.Entries = k.Status.Inventory.Entries[1:]
		}, passes: true},
		{name: "no inventory", change: func(k *kustomizev1.Kustomization) { k.Status.Inventory = nil }, passes: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newSetup(t, 5)
			test.change(s.k)
			if refusal := Refusal(s.k, application("app-000")); (refusal == "") != test.passes {
				t.Errorf("passes: %t, want %t (%s)", refusal == "", test.passes, refusal)
			}
		})
	}
	if refusal := Refusal(nil, application("app-000")); refusal != "" {
		t.Errorf("without a Kustomization: %s", refusal)
	}
}
