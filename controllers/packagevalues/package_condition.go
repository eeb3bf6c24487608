package packagevalues

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/packages"
)

// tellPackage says on a Package, in one condition, that its values are overridden, or takes
// that condition off. Nothing else of ours would survive there. The list of conditions is
// written as a whole, so only upon the resource version that was read: the platform's own
// conditions are never put back by it.
func (r *Reconciler) tellPackage(ctx context.Context, pkg *packages.Package, values *cozyv1.PackageValues) error {
	if pkg == nil || !pkg.DeletionTimestamp.IsZero() {
		return nil
	}
	conditions := slices.Clone(pkg.Status.Conditions)
	var changed bool
	if values == nil {
		changed = apimeta.RemoveStatusCondition(&conditions, cozyv1.ValuesOverriddenCondition)
	} else {
		changed = apimeta.SetStatusCondition(&conditions, metav1.Condition{
			Type: cozyv1.ValuesOverriddenCondition, Status: metav1.ConditionTrue, Reason: cozyv1.ReasonPackageValues,
			Message: overriddenMessage(values),
		})
	}
	if !changed {
		return nil
	}
	patch, err := mergePatch(map[string]any{
		"metadata": map[string]any{"resourceVersion": pkg.ResourceVersion},
		"status":   map[string]any{"conditions": conditions},
	})
	if err != nil {
		return err
	}
	told := &packages.Package{}
	told.Name = pkg.Name
	err = r.Releases.Status().Patch(ctx, told, patch, client.FieldOwner(fieldManager))
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("cannot write the condition %s of Package %s: %w", cozyv1.ValuesOverriddenCondition, pkg.Name, err)
	}
	return nil
}

func overriddenMessage(values *cozyv1.PackageValues) string {
	names := strings.Join(slices.Sorted(maps.Keys(values.Spec.Components)), ", ")
	text := fmt.Sprintf("PackageValues %s overrides values of %s: see kubectl get packagevalues %s -o yaml", values.Name, names, values.Name)
	if values.Spec.Suspend {
		text = fmt.Sprintf("PackageValues %s, which is suspended, holds the values of %s as they are", values.Name, names)
	}
	return cut(text, maxMessage)
}
