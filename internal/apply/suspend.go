package apply

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// HoldManager owns the suspension of a Flux object that somebody else wrote, and the
// annotation that says why: so both can be given back, and nothing else is touched.
const HoldManager = "gitops-operator-hold"

// Suspend suspends a Flux object that the operator did not make, with an annotation.
func (a *Applier) Suspend(ctx context.Context, obj client.Object, annotation, value string) error {
	return wrap("suspend", obj, a.hold(ctx, obj, func(held *unstructured.Unstructured) {
		held.SetAnnotations(map[string]string{annotation: value})
		held.Object["spec"] = map[string]any{"suspend": true}
	}))
}

// Resume takes back what Suspend did. An object whose author has suspended it as well
// stays so.
func (a *Applier) Resume(ctx context.Context, obj client.Object) error {
	return wrap("resume", obj, a.hold(ctx, obj, func(*unstructured.Unstructured) {}))
}

// hold applies what fill sets, and takes away what it does not.
func (a *Applier) hold(ctx context.Context, obj client.Object, fill func(*unstructured.Unstructured)) error {
	gvk, err := apiutil.GVKForObject(obj, a.client.Scheme())
	if err != nil {
		return err
	}
	held := &unstructured.Unstructured{Object: map[string]any{}}
	held.SetGroupVersionKind(gvk)
	held.SetNamespace(obj.GetNamespace())
	held.SetName(obj.GetName())
	// An apply of what is not there any more would make it.
	held.SetUID(obj.GetUID())
	fill(held)
	return client.IgnoreNotFound(a.client.Patch(ctx, held, client.Apply, client.ForceOwnership, client.FieldOwner(HoldManager))) //nolint:staticcheck // the unstructured form of apply, as Apply uses it
}
