package limits_test

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/cozystack/gitops-operator/internal/operator"
	"github.com/cozystack/gitops-operator/internal/oversize"
)

// tryToResume tries, in every way to write, to have a source that is held fetch again.
func tryToResume(t *testing.T, tenant client.Client, obj client.Object) {
	t.Helper()
	kind, err := apiutil.GVKForObject(obj, operator.Scheme())
	if err != nil {
		t.Fatal(err)
	}
	key := client.ObjectKeyFromObject(obj)
	named := func() *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{}}
		u.SetGroupVersionKind(kind)
		u.SetNamespace(key.Namespace)
		u.SetName(key.Name)
		return u
	}
	patch := func(kind types.PatchType, body string) func() error {
		return func() error { return tenant.Patch(t.Context(), named(), client.RawPatch(kind, []byte(body))) }
	}
	update := func(edit func(*unstructured.Unstructured)) func() error {
		return func() error {
			return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
				stored := named()
				if err := tenant.Get(t.Context(), key, stored); err != nil {
					return err
				}
				edit(stored)
				return tenant.Update(t.Context(), stored)
			})
		}
	}
	apply := func(fill func(*unstructured.Unstructured)) func() error {
		return func() error {
			u := named()
			fill(u)
			return tenant.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(u), client.FieldOwner("kubectl"), client.ForceOwnership)
		}
	}
	const pointer = "/metadata/annotations/gitops.cozystack.io~1held"
	for name, try := range map[string]func() error{
		"merge patch of suspend":              patch(types.MergePatchType, `{"spec":{"suspend":false}}`),
		"merge patch that removes suspend":    patch(types.MergePatchType, `{"spec":{"suspend":null}}`),
		"merge patch of the annotation":       patch(types.MergePatchType, `{"metadata":{"annotations":{"`+oversize.HeldAnnotation+`":null}}}`),
		"merge patch of all annotations":      patch(types.MergePatchType, `{"metadata":{"annotations":null},"spec":{"suspend":false}}`),
		"merge patch with another interval":   patch(types.MergePatchType, `{"spec":{"suspend":false,"interval":"59m"}}`),
		"merge patch of another annotation":   patch(types.MergePatchType, `{"metadata":{"annotations":{"`+oversize.HeldAnnotation+`":"0"}}}`),
		"json patch of suspend":               patch(types.JSONPatchType, `[{"op":"replace","path":"/spec/suspend","value":false}]`),
		"json patch that removes the suspend": patch(types.JSONPatchType, `[{"op":"remove","path":"/spec/suspend"}]`),
		"json patch of the annotation":        patch(types.JSONPatchType, `[{"op":"remove","path":"`+pointer+`"}]`),
		"update of suspend": update(func(u *unstructured.Unstructured) {
			u.Object["spec"].(map[string]any)["suspend"] = false
		}),
		"update without either": update(func(u *unstructured.Unstructured) {
			delete(u.Object["spec"].(map[string]any), "suspend")
			u.SetAnnotations(nil)
		}),
		"apply of suspend": apply(func(u *unstructured.Unstructured) {
			u.Object["spec"] = map[string]any{"suspend": false}
		}),
		"apply of another annotation": apply(func(u *unstructured.Unstructured) {
			u.SetAnnotations(map[string]string{oversize.HeldAnnotation: ""})
		}),
	} {
		if err := try(); !apierrors.IsForbidden(err) {
			t.Errorf("%s of a source that is held: %v", name, err)
		}
	}
}
