package registry

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/cozystack/gitops-operator/e2e/standins/applicationsapi/release"
)

// Create stores a new application. It does so for a dry run as well: what the platform
// hands on of the options does not say that it is one.
func (a *Applications) Create(ctx context.Context, object runtime.Object, validate rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	application := object.(*unstructured.Unstructured)
	if err := a.validateNew(application); err != nil {
		return nil, err
	}
	if validate != nil {
		if err := validate(ctx, application.DeepCopy()); err != nil {
			return nil, err
		}
	}
	made := release.FromApplication(a.kind, application, nil)
	made.SetResourceVersion("")
	stored, err := a.releases.Namespace(made.GetNamespace()).Create(ctx, made, metav1.CreateOptions{})
	if err != nil {
		return nil, hidden("create", err)
	}
	a.count(ctx, true)
	return release.ToApplication(a.kind, stored), nil
}

// Update stores an application in place of the one there, or a new one where the request
// may create it, as an apply may. A dry run is stored too.
func (a *Applications) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, validateNew rest.ValidateObjectFunc, validate rest.ValidateObjectUpdateFunc, mayCreate bool, _ *metav1.UpdateOptions) (runtime.Object, bool, error) {
	stored, err := a.stored(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) && mayCreate {
		created, err := a.createUpdated(ctx, info, validateNew)
		return created, err == nil, err
	}
	if err != nil {
		return nil, false, err
	}
	before := release.ToApplication(a.kind, stored)
	updated, err := info.UpdatedObject(ctx, before.DeepCopy())
	if err != nil {
		return nil, false, err
	}
	application := updated.(*unstructured.Unstructured)
	if err := a.validateSpec(application); err != nil {
		return nil, false, err
	}
	if validate != nil {
		if err := validate(ctx, application.DeepCopy(), before); err != nil {
			return nil, false, err
		}
	}
	made := release.FromApplication(a.kind, application, stored)
	written, err := a.releases.Namespace(stored.GetNamespace()).Update(ctx, made, metav1.UpdateOptions{})
	if err != nil {
		return nil, false, hidden("update", err)
	}
	a.count(ctx, written.GetResourceVersion() != stored.GetResourceVersion())
	return release.ToApplication(a.kind, written), false, nil
}

func (a *Applications) createUpdated(ctx context.Context, info rest.UpdatedObjectInfo, validate rest.ValidateObjectFunc) (runtime.Object, error) {
	object, err := info.UpdatedObject(ctx, a.New())
	if err != nil {
		return nil, err
	}
	return a.Create(ctx, object, validate, nil)
}

// Delete removes the release of an application, whose finalizers may delay it. Neither
// a dry run nor preconditions nor a propagation policy get through.
func (a *Applications) Delete(ctx context.Context, name string, validate rest.ValidateObjectFunc, _ *metav1.DeleteOptions) (runtime.Object, bool, error) {
	stored, err := a.stored(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, false, err
	}
	application := release.ToApplication(a.kind, stored)
	if validate != nil {
		if err := validate(ctx, application); err != nil {
			return nil, false, err
		}
	}
	if err := a.releases.Namespace(stored.GetNamespace()).Delete(ctx, stored.GetName(), metav1.DeleteOptions{}); err != nil {
		return nil, false, hidden("delete", err)
	}
	// A second deletion of what awaits its finalizers changes nothing.
	a.count(ctx, stored.GetDeletionTimestamp() == nil)
	return application, true, nil
}

func (a *Applications) count(ctx context.Context, changed bool) {
	verb := "unknown"
	if info, found := request.RequestInfoFrom(ctx); found {
		verb = info.Verb
	}
	a.counter.Add(verb, a.kind.Kind, changed)
}
