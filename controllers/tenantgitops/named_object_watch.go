package tenantgitops

import (
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/event"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
)

// namedObjectWatch watches the Secrets and ConfigMaps that sources name, one by
// one and their metadata only: nobody lists the Secrets of a namespace, let
// alone of the cluster, to learn that one has been rotated.
type namedObjectWatch struct {
	client metadata.Interface
	events chan event.GenericEvent

	mu      sync.Mutex
	stopped bool
	running map[string]map[watchedObject]chan struct{}
}

// watchedObject is a Secret or ConfigMap of a namespace.
type watchedObject struct {
	configMap bool
	name      string
}

func newNamedObjectWatch(client metadata.Interface) *namedObjectWatch {
	return &namedObjectWatch{
		client:  client,
		events:  make(chan event.GenericEvent),
		running: map[string]map[watchedObject]chan struct{}{},
	}
}

// Watch makes the watches of a namespace be those of wanted.
func (w *namedObjectWatch) Watch(namespace string, wanted map[watchedObject]bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for object, stop := range w.running[namespace] {
		if !wanted[object] {
			close(stop)
			delete(w.running[namespace], object)
		}
	}
	if w.stopped || len(wanted) == 0 {
		return
	}
	if w.running[namespace] == nil {
		w.running[namespace] = map[watchedObject]chan struct{}{}
	}
	for object := range wanted {
		if _, runs := w.running[namespace][object]; !runs {
			stop := make(chan struct{})
			w.running[namespace][object] = stop
			w.start(namespace, object, stop)
		}
	}
}

// Forget ends the watches of a namespace.
func (w *namedObjectWatch) Forget(namespace string) {
	w.Watch(namespace, nil)
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.running, namespace)
}

// Stop ends all watches, for good.
func (w *namedObjectWatch) Stop() {
	w.mu.Lock()
	w.stopped = true
	var namespaces []string
	for namespace := range w.running {
		namespaces = append(namespaces, namespace)
	}
	w.mu.Unlock()
	for _, namespace := range namespaces {
		w.Forget(namespace)
	}
}

func (w *namedObjectWatch) start(namespace string, object watchedObject, stop chan struct{}) {
	resource := schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	if object.configMap {
		resource.Resource = "configmaps"
	}
	informer := metadatainformer.NewFilteredMetadataInformer(w.client, resource, namespace, 0, cache.Indexers{}, func(options *metav1.ListOptions) {
		options.FieldSelector = fields.OneTermEqualSelector(metav1.ObjectNameField, object.name).String()
	}).Informer()
	notify := func() {
		tenant := &gitopsv1.TenantGitOps{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: gitopsv1.TenantGitOpsName}}
		select {
		case w.events <- event.GenericEvent{Object: tenant}:
		case <-stop:
		}
	}
	// The error is only for an informer that has been stopped.
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { notify() },
		UpdateFunc: func(before, after any) {
			if before.(metav1.Object).GetResourceVersion() != after.(metav1.Object).GetResourceVersion() {
				notify()
			}
		},
		DeleteFunc: func(any) { notify() },
	})
	go informer.Run(stop)
}
