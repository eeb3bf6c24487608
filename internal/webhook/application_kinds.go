package webhook

import (
	"context"
	"fmt"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/internal/platform"
	"github.com/cozystack/gitops-operator/internal/removal"
)

// schemasLife is how long the schemas are believed: the platform's API server takes a
// new one up no sooner. They are megabytes with all icons, too many to keep or to read
// for each request.
const schemasLife = 10 * time.Second

// applicationKinds knows how the applications are served, and the schemas of their kinds.
type applicationKinds struct {
	// cached has an informer of the applications' APIService; definitions are read from
	// the API server.
	cached, uncached client.Reader

	mu      sync.Mutex
	readAt  time.Time
	schemas map[string]parsedSchema
}

// parsedSchema is that of a kind, with what it was parsed from.
type parsedSchema struct {
	text   string
	schema *removal.Schema
}

// aggregated says whether applications are served by an API server of their own, which
// stores no managed fields, and not by the cluster's as custom resources.
func (k *applicationKinds) aggregated(ctx context.Context) (bool, error) {
	service := platform.APIService()
	switch err := k.cached.Get(ctx, client.ObjectKeyFromObject(service), service); {
	case apierrors.IsNotFound(err):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("cannot read APIService %s: %w", service.GetName(), err)
	}
	server, _, _ := unstructured.NestedString(service.Object, "spec", "service", "name")
	return server != "", nil
}

// schema is that of a kind; nil where there is none that can be used.
func (k *applicationKinds) schema(ctx context.Context, kind string) (*removal.Schema, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if time.Since(k.readAt) > schemasLife {
		if err := k.read(ctx); err != nil {
			return nil, err
		}
		k.readAt = time.Now()
	}
	return k.schemas[kind].schema, nil
}

func (k *applicationKinds) read(ctx context.Context) error {
	definitions := &unstructured.UnstructuredList{}
	definitions.SetGroupVersionKind(schema.GroupVersionKind{Group: "cozystack.io", Version: "v1alpha1", Kind: "ApplicationDefinitionList"})
	// Off Cozystack there are none.
	if err := k.uncached.List(ctx, definitions); err != nil && !apimeta.IsNoMatchError(err) && !apierrors.IsNotFound(err) {
		return fmt.Errorf("cannot list ApplicationDefinitions: %w", err)
	}
	schemas := map[string]parsedSchema{}
	for _, definition := range definitions.Items {
		kind, _, _ := unstructured.NestedString(definition.Object, "spec", "application", "kind")
		text, _, _ := unstructured.NestedString(definition.Object, "spec", "application", "openAPISchema")
		known, found := k.schemas[kind]
		if !found || known.text != text {
			known = parsedSchema{text: text}
			// One that cannot be used is none: then lists are taken as a whole.
			if parsed, err := removal.ParseSchema(text); err == nil {
				known.schema = parsed
			}
		}
		schemas[kind] = known
	}
	k.schemas = schemas
	return nil
}
