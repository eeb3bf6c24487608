package isolation_test

import (
	"context"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// attempt is one escape: what is changed of a good object, and a part of the sentence by
// which it is refused, that says the mend.
type attempt struct {
	name   string
	change change
	mend   string
	// bySchema is of an escape that Flux's own schema refuses as well.
	bySchema bool
}

// ways are all ways to write an object; each returns what the API server said.
var ways = map[string]func(context.Context, client.Client, *unstructured.Unstructured, change) error{
	"create": func(ctx context.Context, c client.Client, good *unstructured.Unstructured, change change) error {
		bad := good.DeepCopy()
		if bad.GetKind() != "TenantGitOps" {
			bad.SetName("created")
		}
		change(bad)
		return c.Create(ctx, bad, client.DryRunAll)
	},
	"update": func(ctx context.Context, c client.Client, good *unstructured.Unstructured, change change) error {
		return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
			stored, err := read(ctx, c, good)
			if err != nil {
				return err
			}
			change(stored)
			return c.Update(ctx, stored, client.DryRunAll)
		})
	},
	"patch": func(ctx context.Context, c client.Client, good *unstructured.Unstructured, change change) error {
		stored, err := read(ctx, c, good)
		if err != nil {
			return err
		}
		changed := stored.DeepCopy()
		change(changed)
		return c.Patch(ctx, changed, client.MergeFrom(stored), client.DryRunAll)
	},
	"apply": func(ctx context.Context, c client.Client, good *unstructured.Unstructured, change change) error {
		bad := good.DeepCopy()
		change(bad)
		return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(bad), client.FieldOwner("kubectl"), client.ForceOwnership, client.DryRunAll)
	},
}

func read(ctx context.Context, c client.Client, good *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	stored := good.DeepCopy()
	return stored, c.Get(ctx, client.ObjectKeyFromObject(good), stored)
}

// refused says whether a policy refused a write.
func refused(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "ValidatingAdmissionPolicy")
}

// saysMend says whether a policy refused a write with the mend.
func saysMend(err error, mend string) bool {
	return refused(err) && strings.Contains(err.Error(), mend)
}

// createGood lays in the object that attempts change, by the same hand and manager as the
// attempts, so that an apply without a field takes the field away.
func createGood(t *testing.T, c client.Client, good *unstructured.Unstructured) {
	t.Helper()
	if err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(good.DeepCopy()), client.FieldOwner("kubectl"), client.ForceOwnership); err != nil {
		t.Fatalf("a good %s was refused: %v", good.GetKind(), err)
	}
}

// tryAll tries every escape in every way; each has to be refused with its mend.
func tryAll(t *testing.T, c client.Client, good *unstructured.Unstructured, attempts []attempt) {
	t.Helper()
	createGood(t, c, good)
	for _, attempt := range attempts {
		for way, write := range ways {
			t.Run(attempt.name+"/"+way, func(t *testing.T) {
				err := write(t.Context(), c, good, attempt.change)
				if attempt.bySchema && apierrors.IsInvalid(err) {
					return
				}
				if !saysMend(err, attempt.mend) {
					t.Errorf("the answer should be a policy's, with %q; it was: %v", attempt.mend, err)
				}
			})
		}
	}
}

// passAll writes objects that are all right, in every way.
func passAll(t *testing.T, c client.Client, good *unstructured.Unstructured, changes map[string]change) {
	t.Helper()
	createGood(t, c, good)
	for name, change := range changes {
		for way, write := range ways {
			t.Run(name+"/"+way, func(t *testing.T) {
				if way == "create" && good.GetKind() == "TenantGitOps" {
					// One is there, and there is but one.
					if err := c.Delete(t.Context(), good.DeepCopy()); err != nil {
						t.Fatal(err)
					}
					defer createGood(t, c, good)
				}
				if err := write(t.Context(), c, good, change); err != nil {
					t.Errorf("refused: %v", err)
				}
			})
		}
	}
}
