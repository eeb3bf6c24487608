// Package apply writes objects to the API server: by server-side apply, under
// one field manager, and only what differs from what is there.
package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fluxcd/pkg/ssa"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/fluxcd/pkg/apis/meta"
)

const (
	// FieldManager owns every field that the operator stamps.
	FieldManager = "gitops-operator"
	// RequestManager owns the annotation by which Flux is asked to reconcile. It
	// is another one, so that a later apply does not take the annotation away.
	RequestManager = "gitops-operator-request"
)

// Applier writes objects. It must be given a client that reads unstructured
// objects from the API server and not from a cache.
type Applier struct {
	client  client.Client
	manager *ssa.ResourceManager
}

// New returns an applier.
func New(c client.Client) *Applier {
	return &Applier{
		client:  c,
		manager: ssa.NewResourceManager(c, nil, ssa.Owner{Field: FieldManager, Group: "gitops.cozystack.io"}),
	}
}

// ErrNameTaken says that an object of the name is there and somebody else's.
var ErrNameTaken = errors.New("an object of that name exists and is not the operator's: delete it or give it another name")

// Apply makes the object in the cluster hold what obj holds, and says whether
// that took a write. Fields that others own stay theirs; an object that somebody
// else made is left alone, with ErrNameTaken.
func (a *Applier) Apply(ctx context.Context, obj client.Object) (changed bool, err error) {
	desired, err := a.toUnstructured(obj)
	if err != nil {
		return false, err
	}
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(desired.GroupVersionKind())
	err = a.client.Get(ctx, client.ObjectKeyFromObject(desired), live)
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		return false, wrap("read", desired, err)
	case !isOurs(live):
		return false, wrap("apply", desired, ErrNameTaken)
	case lacksFinalizers(live, desired.GetFinalizers()):
		// The library compares neither finalizers nor owners.
		err := a.client.Patch(ctx, desired, client.Apply, client.ForceOwnership, client.FieldOwner(FieldManager)) //nolint:staticcheck // the unstructured form of apply, as fluxcd/pkg/ssa uses it
		return err == nil, wrap("apply", desired, err)
	}
	entry, err := a.manager.Apply(ctx, desired, ssa.DefaultApplyOptions())
	if err != nil {
		return false, wrap("apply", desired, err)
	}
	return entry.Action != ssa.UnchangedAction && entry.Action != ssa.SkippedAction, nil
}

// isOurs says whether the operator has applied an object before: by its label, or,
// where somebody has taken that away, by its field manager.
func isOurs(live *unstructured.Unstructured) bool {
	if live.GetLabels()[ManagedByLabel] == FieldManager {
		return true
	}
	for _, entry := range live.GetManagedFields() {
		if entry.Manager == FieldManager && entry.Operation == metav1.ManagedFieldsOperationApply {
			return true
		}
	}
	return false
}

// ManagedByLabel marks, with the value FieldManager, what the operator applies.
const ManagedByLabel = "app.kubernetes.io/managed-by"

func lacksFinalizers(live *unstructured.Unstructured, finalizers []string) bool {
	if live.GetDeletionTimestamp() != nil {
		// Nothing may be added to it any more.
		return false
	}
	for _, finalizer := range finalizers {
		if !slices.Contains(live.GetFinalizers(), finalizer) {
			return true
		}
	}
	return false
}

// Request asks Flux to reconcile a live object now.
func (a *Applier) Request(ctx context.Context, obj client.Object, now time.Time) error {
	patch := client.MergeFrom(obj.DeepCopyObject().(client.Object))
	annotations := map[string]string{}
	for key, value := range obj.GetAnnotations() {
		annotations[key] = value
	}
	annotations[meta.ReconcileRequestAnnotation] = now.Format(time.RFC3339Nano)
	asked := obj.DeepCopyObject().(client.Object)
	asked.SetAnnotations(annotations)
	return wrap("ask for a reconciliation of", obj, client.IgnoreNotFound(a.client.Patch(ctx, asked, patch, client.FieldOwner(RequestManager))))
}

// Release takes a finalizer off an object, and nothing else.
func (a *Applier) Release(ctx context.Context, obj client.Object, finalizer string) error {
	if !slices.Contains(obj.GetFinalizers(), finalizer) {
		return nil
	}
	before := obj.DeepCopyObject().(client.Object)
	after := obj.DeepCopyObject().(client.Object)
	after.SetFinalizers(slices.DeleteFunc(slices.Clone(obj.GetFinalizers()), func(f string) bool { return f == finalizer }))
	// With the resource version: a finalizer that somebody adds meanwhile stays.
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	err := a.client.Patch(ctx, after, patch, client.FieldOwner(FieldManager))
	return wrap("take the finalizer off", obj, client.IgnoreNotFound(err))
}

// ReleaseNow takes a finalizer off the object as it is stored now: after a
// deletion the copy at hand is out of date.
func (a *Applier) ReleaseNow(ctx context.Context, obj client.Object, finalizer string) error {
	if !slices.Contains(obj.GetFinalizers(), finalizer) {
		return nil
	}
	gvk, err := apiutil.GVKForObject(obj, a.client.Scheme())
	if err != nil {
		return err
	}
	stored := &unstructured.Unstructured{}
	stored.SetGroupVersionKind(gvk)
	if err := a.client.Get(ctx, client.ObjectKeyFromObject(obj), stored); err != nil {
		return wrap("read", obj, client.IgnoreNotFound(err))
	}
	if stored.GetUID() != obj.GetUID() {
		return nil
	}
	return a.Release(ctx, stored, finalizer)
}

// Delete deletes exactly this object, not a later one of the same name. What is
// gone or going is left alone.
func (a *Applier) Delete(ctx context.Context, obj client.Object) error {
	if obj.GetDeletionTimestamp() != nil {
		return nil
	}
	uid := obj.GetUID()
	err := a.client.Delete(ctx, obj, client.Preconditions{UID: &uid}, client.PropagationPolicy("Background"))
	if apierrors.IsConflict(err) {
		return nil
	}
	return wrap("delete", obj, client.IgnoreNotFound(err))
}

func (a *Applier) toUnstructured(obj client.Object) (*unstructured.Unstructured, error) {
	return ToUnstructured(obj, a.client.Scheme())
}

// ToUnstructured converts an object for server-side apply: without a status and
// without empty values that the Go types cannot leave out.
func ToUnstructured(obj client.Object, scheme *runtime.Scheme) (*unstructured.Unstructured, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return u.DeepCopy(), nil
	}
	gvk, err := apiutil.GVKForObject(obj, scheme)
	if err != nil {
		return nil, fmt.Errorf("cannot convert %T: %w", obj, err)
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
	if err != nil {
		return nil, fmt.Errorf("cannot convert %s %s: %w", gvk.Kind, client.ObjectKeyFromObject(obj), err)
	}
	delete(content, "status")
	dropNulls(content)
	if spec, ok := content["spec"].(map[string]any); ok && strings.HasSuffix(gvk.Group, ".toolkit.fluxcd.io") {
		// The Go types leave a false out, and a field that is not applied is not
		// repaired: somebody's suspension by hand would stay for ever.
		if _, set := spec["suspend"]; !set {
			spec["suspend"] = false
		}
	}
	u := &unstructured.Unstructured{Object: content}
	u.SetGroupVersionKind(gvk)
	return u, nil
}

func dropNulls(node map[string]any) {
	for key, value := range node {
		switch value := value.(type) {
		case nil:
			delete(node, key)
		case map[string]any:
			dropNulls(value)
		case []any:
			for _, item := range value {
				if item, ok := item.(map[string]any); ok {
					dropNulls(item)
				}
			}
		}
	}
}

func wrap(action string, obj client.Object, err error) error {
	if err == nil {
		return nil
	}
	kind := obj.GetObjectKind().GroupVersionKind().Kind
	if kind == "" {
		kind = fmt.Sprintf("%T", obj)
	}
	return fmt.Errorf("cannot %s %s %s: %w", action, kind, client.ObjectKeyFromObject(obj), err)
}
