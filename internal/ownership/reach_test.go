package ownership

import (
	"slices"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestWantingIsWhoMayWriteThere lists Kustomizations of a tenant above that could have
// something in the namespace of one below.
func TestWantingIsWhoMayWriteThere(t *testing.T) {
	const above, below = "tenant-acme", "tenant-acme-shop"
	in := func(namespace, name, target string, entries ...string) kustomizev1.Kustomization {
		k := kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		k.Spec.TargetNamespace = target
		if len(entries) > 0 {
			k.Status.Inventory = &kustomizev1.ResourceInventory{}
		}
		for _, id := range entries {
			k.Status.Inventory.Entries = append(k.Status.Inventory.Entries, kustomizev1.ResourceRef{ID: id, Version: "v1alpha1"})
		}
		return k
	}
	suspended := in(above, "suspended", below)
	suspended.Spec.Suspend = true
	going := in(above, "going", below)
	going.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	byHand := in(above, "by-hand", "")
	for _, tc := range []struct {
		name string
		list []kustomizev1.Kustomization
		want []string
	}{
		{"a source that targets it", []kustomizev1.Kustomization{in(above, "source", below)}, []string{"source"}},
		{"a source that targets its own tenant", []kustomizev1.Kustomization{in(above, "source", above)}, nil},
		{"by hand, where no source leads there", []kustomizev1.Kustomization{byHand, in(above, "source", above)}, nil},
		{"by hand, beside a source that leads there", []kustomizev1.Kustomization{byHand, in(above, "source", below)}, []string{"by-hand", "source"}},
		{"by hand, beside a suspended source that leads there", []kustomizev1.Kustomization{byHand, suspended}, []string{"by-hand"}},
		{"by hand, beside a source that is going", []kustomizev1.Kustomization{byHand, going}, []string{"by-hand"}},
		{"by hand, which has something there", []kustomizev1.Kustomization{in(above, "by-hand", "", below+"_cache_apps.cozystack.io_Redis")}, []string{"by-hand"}},
		{"by hand, which has something in one called alike", []kustomizev1.Kustomization{in(above, "by-hand", "", below+"-x_cache_apps.cozystack.io_Redis")}, nil},
		{"by hand, in the namespace itself", []kustomizev1.Kustomization{in(below, "own", "")}, []string{"own"}},
	} {
		var got []string
		for _, k := range Wanting(tc.list, below) {
			got = append(got, k.Name)
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}
