package registry

import (
	"context"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/endpoints/request"

	"github.com/cozystack/gitops-operator/e2e/standins/applicationsapi/release"
)

// List reads the applications of a namespace, or of all.
func (a *Applications) List(ctx context.Context, options *internalversion.ListOptions) (runtime.Object, error) {
	translated, err := a.listOptions(options)
	if err != nil {
		return nil, err
	}
	stored, err := a.releases.Namespace(request.NamespaceValue(ctx)).List(ctx, translated)
	if err != nil {
		return nil, hidden("list", err)
	}
	list := a.NewList().(*unstructured.UnstructuredList)
	list.SetResourceVersion(stored.GetResourceVersion())
	list.SetContinue(stored.GetContinue())
	list.SetRemainingItemCount(stored.GetRemainingItemCount())
	// A list without items is written as one, not as none.
	list.Items = []unstructured.Unstructured{}
	for i := range stored.Items {
		if a.serves(&stored.Items[i]) {
			list.Items = append(list.Items, *release.ToApplication(a.kind, &stored.Items[i]))
		}
	}
	return list, nil
}

// Watch follows the applications of a namespace, or of all.
func (a *Applications) Watch(ctx context.Context, options *internalversion.ListOptions) (watch.Interface, error) {
	translated, err := a.listOptions(options)
	if err != nil {
		return nil, err
	}
	stored, err := a.releases.Namespace(request.NamespaceValue(ctx)).Watch(ctx, translated)
	if err != nil {
		return nil, hidden("watch", err)
	}
	return watch.Filter(stored, a.event), nil
}

// event turns what happened to a release into what happened to its application.
func (a *Applications) event(event watch.Event) (watch.Event, bool) {
	stored, isObject := event.Object.(*unstructured.Unstructured)
	switch {
	case !isObject || event.Type == watch.Error:
		return event, true
	case event.Type == watch.Bookmark:
		bookmark := a.New().(*unstructured.Unstructured)
		bookmark.SetResourceVersion(stored.GetResourceVersion())
		// One of them says that all objects of before the watch have been told.
		bookmark.SetAnnotations(stored.GetAnnotations())
		return watch.Event{Type: event.Type, Object: bookmark}, true
	case !a.serves(stored):
		return event, false
	}
	return watch.Event{Type: event.Type, Object: release.ToApplication(a.kind, stored)}, true
}

// serves is false for a release that bears the kind's labels under another kind's name.
func (a *Applications) serves(stored *unstructured.Unstructured) bool {
	return strings.HasPrefix(stored.GetName(), a.kind.ReleasePrefix)
}

func (a *Applications) listOptions(options *internalversion.ListOptions) (metav1.ListOptions, error) {
	if options == nil {
		options = &internalversion.ListOptions{}
	}
	selector, err := release.Selector(a.kind, options.LabelSelector)
	if err != nil {
		return metav1.ListOptions{}, err
	}
	translated := metav1.ListOptions{
		LabelSelector:        selector.String(),
		AllowWatchBookmarks:  options.AllowWatchBookmarks,
		ResourceVersion:      options.ResourceVersion,
		ResourceVersionMatch: options.ResourceVersionMatch,
		TimeoutSeconds:       options.TimeoutSeconds,
		Limit:                options.Limit,
		Continue:             options.Continue,
		SendInitialEvents:    options.SendInitialEvents,
	}
	if options.FieldSelector == nil {
		return translated, nil
	}
	// The server has let through only names and namespaces, which releases have too.
	names, err := options.FieldSelector.Transform(func(field, value string) (string, string, error) {
		if field == nameField {
			value = a.kind.ReleaseName(value)
		}
		return field, value, nil
	})
	if err != nil {
		return metav1.ListOptions{}, err
	}
	translated.FieldSelector = names.String()
	return translated, nil
}

// nameField is the name of an object in a field selector.
const nameField = "metadata.name"
