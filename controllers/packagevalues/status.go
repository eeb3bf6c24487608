package packagevalues

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/override"
	"github.com/cozystack/gitops-operator/internal/readiness"
)

// fieldManager is the name that the operator writes under.
const fieldManager = "gitops-operator"

// maxMessage bounds the message of a condition; the API takes 32 KiB.
const maxMessage = 4096

// report writes the status, if it is another than before, and an Event for another state.
func (r *Reconciler) report(ctx context.Context, values *cozyv1.PackageValues, verdict override.Verdict, components []cozyv1.ComponentStatus) error {
	before := values
	values = values.DeepCopy()
	verdict.Message = cut(verdict.Message, maxMessage)
	readiness.Set(&values.Status.Conditions, values.Generation, readiness.Verdict{
		Ready: verdict.Ready, Reason: verdict.Reason, Message: verdict.Message, Stalled: verdict.Stalled,
	})
	values.Status.ObservedGeneration = values.Generation
	values.Status.LastHandledReconcileAt = requested(values)
	values.Status.Components = components
	values.Status.Releases = override.Releases(components)
	values.Status.Overridden = 0
	for _, component := range components {
		values.Status.Overridden += component.OverriddenCount
	}
	if sameStatus(&before.Status, &values.Status) {
		return nil
	}
	// Not by a merge patch: the values in the status may hold nulls, which one would drop.
	err := r.Client.Status().Update(ctx, values, client.FieldOwner(fieldManager))
	if isTooLarge(err) {
		// Beside a spec that nearly fills an object there is no room for them.
		for i := range values.Status.Components {
			values.Status.Components[i] = lean(values.Status.Components[i])
		}
		if sameStatus(&before.Status, &values.Status) {
			return nil
		}
		err = r.Client.Status().Update(ctx, values, client.FieldOwner(fieldManager))
	}
	if err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("cannot write the status of PackageValues %s: %w", values.Name, err)
	}
	r.recordEvent(before, values, verdict)
	return nil
}

// isTooLarge says whether an object does not fit into a request, or into etcd, which says it in
// words only.
func isTooLarge(err error) bool {
	return err != nil && (apierrors.IsRequestEntityTooLargeError(err) || strings.Contains(err.Error(), "request is too large"))
}

// lean is a status without values and lists.
func lean(status cozyv1.ComponentStatus) cozyv1.ComponentStatus {
	return cozyv1.ComponentStatus{
		Name: status.Name, Ready: status.Ready, Reason: status.Reason, Message: status.Message,
		Release: status.Release, Digest: status.Digest, OverriddenCount: status.OverriddenCount,
	}
}

// sameStatus says whether nothing is to be written. Values are the same if their digests are:
// the API server keeps neither the order of their keys nor the text of their numbers.
func sameStatus(before, after *cozyv1.PackageValuesStatus) bool {
	before, after = before.DeepCopy(), after.DeepCopy()
	for i := range before.Components {
		if i >= len(after.Components) {
			return false
		}
		was, is := &before.Components[i], &after.Components[i]
		if (was.Values == nil) == (is.Values == nil) && was.Digest == is.Digest {
			was.Values, is.Values = nil, nil
		}
	}
	return equality.Semantic.DeepEqual(before, after)
}

// recordEvent tells of another state than was told of last; being on the way is none, and what
// comes to the same state by it is not told of again.
func (r *Reconciler) recordEvent(before, values *cozyv1.PackageValues, verdict override.Verdict) {
	if verdict.Ready == metav1.ConditionUnknown {
		return
	}
	type told struct{ of, is string }
	state := told{of: string(values.UID), is: fmt.Sprintf("%s %s %d", verdict.Ready, verdict.Reason, values.Generation)}
	last, known := r.told.Swap(values.Name, state)
	if known && last == state {
		return
	}
	was := apimeta.FindStatusCondition(before.Status.Conditions, meta.ReadyCondition)
	if !known && was != nil && was.Status == verdict.Ready && was.Reason == verdict.Reason && was.ObservedGeneration == values.Generation {
		return
	}
	kind := corev1.EventTypeNormal
	if verdict.Ready == metav1.ConditionFalse {
		kind = corev1.EventTypeWarning
	}
	r.Events.Eventf(values, nil, kind, verdict.Reason, "Reconcile", "%s", cut(verdict.Event, maxEvent))
}

// maxEvent is the API's bound of an event's note, in bytes.
const maxEvent = 1024

func cut(message string, most int) string {
	if len(message) <= most {
		return message
	}
	return strings.ToValidUTF8(message[:most-len("…")], "") + "…"
}

func mergePatch(content map[string]any) (client.Patch, error) {
	encoded, err := json.Marshal(content)
	if err != nil {
		return nil, fmt.Errorf("cannot encode a patch: %w", err)
	}
	return client.RawPatch(types.MergePatchType, encoded), nil
}
