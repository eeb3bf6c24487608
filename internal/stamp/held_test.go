package stamp

import (
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	"github.com/cozystack/gitops-operator/internal/oversize"
)

// TestHeldSourceIsSuspended holds either kind of source, and the other one goes on.
func TestHeldSourceIsSuspended(t *testing.T) {
	for _, held := range []string{"apps", "images"} {
		in := fullInput()
		in.Held = map[string]string{held: "digest"}
		stack, err := Tenant(in)
		if err != nil {
			t.Fatal(err)
		}
		for i, obj := range append(stack.Sources, stack.Kustomizations...) {
			suspended := false
			switch obj := obj.(type) {
			case *sourcev1.GitRepository:
				suspended = obj.Spec.Suspend
			case *sourcev1.OCIRepository:
				suspended = obj.Spec.Suspend
			case *kustomizev1.Kustomization:
				suspended = obj.Spec.Suspend
			}
			want := obj.GetLabels()[SourceLabel] == held
			annotated := obj.GetAnnotations()[oversize.HeldAnnotation] == "digest"
			if suspended != want || annotated != want {
				t.Errorf("%s is held: object %d, %T of %s, suspended %t, annotated %t", held, i, obj, obj.GetLabels()[SourceLabel], suspended, annotated)
			}
			if requested := obj.GetAnnotations()[RequestedAnnotation]; obj.GetLabels()[SourceLabel] == "apps" && requested == "" {
				t.Errorf("%T of apps lost the digest of what was asked for", obj)
			}
		}
	}
}

// TestTenantsOwnSuspensionIsNotTakenForTheHold: what the tenant suspended stays so when
// the source is removed.
func TestTenantsOwnSuspensionIsNotTakenForTheHold(t *testing.T) {
	in := fullInput()
	in.Held = map[string]string{"apps": "digest"}
	in.Stamped[0].Suspend = true
	stack, err := Tenant(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, obj := range stack.Kustomizations {
		if _, annotated := obj.GetAnnotations()[oversize.HeldAnnotation]; annotated {
			t.Errorf("%s says that the operator suspended it", obj.GetName())
		}
	}
}
