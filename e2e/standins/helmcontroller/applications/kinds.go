package applications

import (
	"context"
	"fmt"
	"slices"
	"time"

	v2 "github.com/fluxcd/helm-controller/api/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// lookAgain is how often it looks whether a kind is served by now.
const lookAgain = 250 * time.Millisecond

// Kinds starts a mirror for each kind of application that the catalog defines and the
// API server serves, whenever that comes to be.
type Kinds struct {
	manager   ctrl.Manager
	discovery discovery.DiscoveryInterface
	// mirrors are those that were started, by kind. Only the one worker touches them.
	mirrors map[string]*mirror
}

// SetupWithManager has the manager run the mirrors.
func SetupWithManager(manager ctrl.Manager) error {
	client, err := discovery.NewDiscoveryClientForConfig(manager.GetConfig())
	if err != nil {
		return fmt.Errorf("set up the mirrors of applications: %w", err)
	}
	return manager.Add(&Kinds{manager: manager, discovery: client, mirrors: map[string]*mirror{}})
}

// Start waits until the catalog is served, and follows it.
func (k *Kinds) Start(ctx context.Context) error {
	err := wait.PollUntilContextCancel(ctx, lookAgain, true, func(context.Context) (bool, error) {
		resources, err := k.served(definitionKind.GroupVersion().String())
		return slices.Contains(resources, definitionResource), err
	})
	if err != nil {
		// It was told to end before.
		return nil
	}
	definition := &unstructured.Unstructured{}
	definition.SetGroupVersionKind(definitionKind)
	err = ctrl.NewControllerManagedBy(k.manager).Named("application-definitions").For(definition).Complete(k)
	if err != nil {
		return fmt.Errorf("follow the application definitions: %w", err)
	}
	return nil
}

// served lists the resources of a group and version, and their subresources.
func (k *Kinds) served(groupVersion string) ([]string, error) {
	list, err := k.discovery.ServerResourcesForGroupVersion(groupVersion)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the kinds of %s: %w", groupVersion, err)
	}
	var names []string
	for _, resource := range list.APIResources {
		names = append(names, resource.Name)
	}
	return names, nil
}

// Reconcile starts the mirror of the kind that a definition defines, or tells it of the
// definition's change.
func (k *Kinds) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(definitionKind)
	if err := k.manager.GetClient().Get(ctx, request.NamespacedName, object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	definition, err := ReadDefinition(object)
	if err != nil {
		return ctrl.Result{}, reconcile.TerminalError(err)
	}
	if running := k.mirrors[definition.Kind]; running != nil {
		running.definition.Store(&definition)
		return ctrl.Result{}, nil
	}
	resources, err := k.served(Group + "/" + Version)
	if err != nil {
		return ctrl.Result{}, err
	}
	if !slices.Contains(resources, definition.Plural) {
		return ctrl.Result{RequeueAfter: lookAgain}, nil
	}
	started := &mirror{client: k.manager.GetClient(), statusIsSubresource: slices.Contains(resources, definition.Plural+"/status")}
	started.definition.Store(&definition)
	if err := k.start(definition, started); err != nil {
		return ctrl.Result{}, err
	}
	k.mirrors[definition.Kind] = started
	return ctrl.Result{}, nil
}

func (k *Kinds) start(definition Definition, m *mirror) error {
	application := &unstructured.Unstructured{}
	application.SetGroupVersionKind(definition.gvk())
	err := ctrl.NewControllerManagedBy(k.manager).Named("mirror-of-"+definition.Plural).
		For(application).
		Watches(&v2.HelmRelease{}, handler.EnqueueRequestsFromMapFunc(func(_ context.Context, release client.Object) []reconcile.Request {
			name := release.GetLabels()[nameLabel]
			if !isOf(release, definition.Kind, name) {
				return nil
			}
			return []reconcile.Request{{NamespacedName: client.ObjectKey{Namespace: release.GetNamespace(), Name: name}}}
		})).
		Complete(m)
	if err != nil {
		return fmt.Errorf("start the mirror of %s: %w", definition.Kind, err)
	}
	return nil
}
