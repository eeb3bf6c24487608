package isolation_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/attempts"
)

type object = unstructured.Unstructured

// refused says whether a policy refused a write.
func refused(err error) bool {
	return apierrors.IsForbidden(err) && strings.Contains(err.Error(), "ValidatingAdmissionPolicy")
}

// saysMend says whether a policy refused a write with the mend.
func saysMend(err error, mend string) bool {
	return refused(err) && strings.Contains(err.Error(), mend)
}

// write writes an object in the way that is named, and returns what the API server said.
func write(ctx context.Context, way string, c client.Client, good *unstructured.Unstructured, change attempts.Change) error {
	for _, known := range attempts.Ways {
		if known.Name == way {
			_, err := known.Write(ctx, c, good, change)
			return err
		}
	}
	return fmt.Errorf("write an object by %q: no such way", way)
}

func createGood(t *testing.T, c client.Client, good *unstructured.Unstructured) {
	t.Helper()
	if err := attempts.Store(t.Context(), c, good); err != nil {
		t.Fatalf("a good %s was refused: %v", good.GetKind(), err)
	}
}

// tryAll tries every escape in every way; each has to be refused with its mend.
func tryAll(t *testing.T, c client.Client, good *unstructured.Unstructured, escapes []attempts.Attempt) {
	t.Helper()
	createGood(t, c, good)
	for _, escape := range escapes {
		for _, way := range attempts.Ways {
			t.Run(escape.Name+"/"+way.Name, func(t *testing.T) {
				_, err := way.Write(t.Context(), c, good, escape.Change)
				if escape.BySchema && apierrors.IsInvalid(err) {
					return
				}
				if !saysMend(err, escape.Mend) {
					t.Errorf("the answer should be a policy's, with %q; it was: %v", escape.Mend, err)
				}
			})
		}
	}
}

// passAll writes objects that are all right, in every way.
func passAll(t *testing.T, c client.Client, good *unstructured.Unstructured, changes map[string]attempts.Change) {
	t.Helper()
	createGood(t, c, good)
	for name, change := range changes {
		for _, way := range attempts.Ways {
			t.Run(name+"/"+way.Name, func(t *testing.T) {
				if way.Name == "create" && good.GetKind() == "TenantGitOps" {
					// One is there, and there is but one.
					if err := c.Delete(t.Context(), good.DeepCopy()); err != nil {
						t.Fatal(err)
					}
					defer createGood(t, c, good)
				}
				if _, err := way.Write(t.Context(), c, good, change); err != nil {
					t.Errorf("refused: %v", err)
				}
			})
		}
	}
}
