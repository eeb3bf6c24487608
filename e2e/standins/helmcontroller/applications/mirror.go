package applications

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"

	v2 "github.com/fluxcd/helm-controller/api/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// fieldOwner is who owns what is written of releases and of the status.
const fieldOwner = client.FieldOwner("applications-mirror")

// mirror keeps the releases of one kind's applications.
type mirror struct {
	client     client.Client
	definition atomic.Pointer[Definition]
	// statusIsSubresource tells how the kind's status is written.
	statusIsSubresource bool
}

// Reconcile makes the release of one application what the application says, and the
// application's status what the release says.
func (m *mirror) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	definition := *m.definition.Load()
	application := &unstructured.Unstructured{}
	application.SetGroupVersionKind(definition.gvk())
	err := m.client.Get(ctx, request.NamespacedName, application)
	if apierrors.IsNotFound(err) || err == nil && application.GetDeletionTimestamp() != nil {
		return ctrl.Result{}, m.deleteRelease(ctx, definition, request.NamespacedName)
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("read %s %s: %w", definition.Kind, request, err)
	}
	release, err := m.applyRelease(ctx, definition, application)
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, m.copyStatus(ctx, application, release)
}

func (m *mirror) deleteRelease(ctx context.Context, definition Definition, application types.NamespacedName) error {
	key := client.ObjectKey{Namespace: application.Namespace, Name: definition.Prefix + application.Name}
	release := &v2.HelmRelease{}
	if err := m.client.Get(ctx, key, release); err != nil {
		return client.IgnoreNotFound(err)
	}
	if !isOf(release, definition.Kind, application.Name) || release.DeletionTimestamp != nil {
		return nil
	}
	if err := m.client.Delete(ctx, release, client.Preconditions{UID: &release.UID}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete HelmRelease %s: %w", key, err)
	}
	return nil
}

// applyRelease returns the release as it is stored then.
func (m *mirror) applyRelease(ctx context.Context, definition Definition, application *unstructured.Unstructured) (*v2.HelmRelease, error) {
	wanted, err := definition.Release(application)
	if err != nil {
		return nil, err
	}
	key := client.ObjectKeyFromObject(wanted)
	existing := &v2.HelmRelease{}
	err = m.client.Get(ctx, key, existing)
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("read HelmRelease %s: %w", key, err)
	}
	if err == nil && !isOf(existing, definition.Kind, application.GetName()) {
		return nil, reconcile.TerminalError(fmt.Errorf("apply HelmRelease %s: it is not of %s %s", key, definition.Kind, application.GetName()))
	}
	object, err := applied(wanted)
	if err != nil {
		return nil, err
	}
	if err := m.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), fieldOwner, client.ForceOwnership); err != nil {
		return nil, fmt.Errorf("apply HelmRelease %s: %w", key, err)
	}
	stored := &v2.HelmRelease{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, stored); err != nil {
		return nil, fmt.Errorf("read HelmRelease %s: %w", key, err)
	}
	return stored, nil
}

func (m *mirror) copyStatus(ctx context.Context, application *unstructured.Unstructured, release *v2.HelmRelease) error {
	before, err := readStatus(application)
	if err != nil {
		return err
	}
	after, changed := copied(before, release, application.GetGeneration(), m.statusIsSubresource)
	if !changed {
		return nil
	}
	patch, err := json.Marshal(map[string]any{"status": after})
	if err != nil {
		return fmt.Errorf("encode status of %s %s: %w", application.GetKind(), application.GetName(), err)
	}
	if m.statusIsSubresource {
		err = m.client.Status().Patch(ctx, application, client.RawPatch(types.MergePatchType, patch), fieldOwner)
	} else {
		err = m.client.Patch(ctx, application, client.RawPatch(types.MergePatchType, patch), fieldOwner)
	}
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write status of %s %s: %w", application.GetKind(), application.GetName(), err)
	}
	return nil
}
