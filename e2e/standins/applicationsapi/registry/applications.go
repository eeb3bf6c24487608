// Package registry serves the applications of one kind from HelmReleases.
package registry

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/client-go/dynamic"

	"github.com/cozystack/gitops-operator/e2e/standins/applicationsapi/catalog"
	"github.com/cozystack/gitops-operator/e2e/standins/applicationsapi/release"
	"github.com/cozystack/gitops-operator/e2e/standins/applicationsapi/writes"
)

// Applications are those of one kind. There is no status subresource and no deletion of
// a whole collection, as on the platform.
type Applications struct {
	rest.TableConvertor

	kind     *catalog.Kind
	releases dynamic.NamespaceableResourceInterface
	counter  *writes.Counter
}

var (
	_ rest.Getter          = &Applications{}
	_ rest.Lister          = &Applications{}
	_ rest.Watcher         = &Applications{}
	_ rest.Creater         = &Applications{} //nolint:misspell // the interface is called so
	_ rest.Patcher         = &Applications{}
	_ rest.GracefulDeleter = &Applications{}
)

// New serves a kind, with the rights of a client to HelmReleases.
func New(kind *catalog.Kind, client dynamic.Interface, counter *writes.Counter, table rest.TableConvertor) *Applications {
	return &Applications{TableConvertor: table, kind: kind, releases: client.Resource(release.Resource), counter: counter}
}

// New returns an empty application, to be read into.
func (a *Applications) New() runtime.Object {
	application := &unstructured.Unstructured{}
	application.SetGroupVersionKind(a.kind.GroupVersionKind())
	return application
}

// NewList returns an empty list of applications.
func (a *Applications) NewList() runtime.Object {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(catalog.GroupVersion.WithKind(a.kind.Kind + "List"))
	return list
}

// Destroy has nothing to release.
func (a *Applications) Destroy() {}

// Get reads one application.
func (a *Applications) Get(ctx context.Context, name string, options *metav1.GetOptions) (runtime.Object, error) {
	stored, err := a.stored(ctx, name, *options)
	if err != nil {
		return nil, err
	}
	return release.ToApplication(a.kind, stored), nil
}

// stored reads the release of an application.
func (a *Applications) stored(ctx context.Context, name string, options metav1.GetOptions) (*unstructured.Unstructured, error) {
	stored, err := a.releases.Namespace(request.NamespaceValue(ctx)).Get(ctx, a.kind.ReleaseName(name), options)
	switch {
	case apierrors.IsNotFound(err), err == nil && !release.Of(a.kind, stored.GetLabels()):
		return nil, apierrors.NewNotFound(a.kind.Resource().GroupResource(), name)
	case err != nil:
		return nil, hidden("get", err)
	}
	return stored, nil
}

// hidden keeps the code of a failure from the client, who sees a server's error.
func hidden(verb string, err error) error {
	return fmt.Errorf("failed to %s HelmRelease: %v", verb, err) //nolint:errorlint // that the cause is lost is the platform's way
}
