package admission

import (
	"fmt"
	"slices"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cozystack/gitops-operator/internal/platform"
)

// labelsFluxGoesBy say whose an applied object is, and which controller reconciles it.
// Flux sets the first two itself, but commonMetadata has the last word.
var labelsFluxGoesBy = []string{
	kustomizev1.GroupVersion.Group + "/name", kustomizev1.GroupVersion.Group + "/namespace", platform.ShardLabel,
}

// broken says which rule an object breaks that neither the roles of the tenant's
// controller nor its flags would hold: without the webhook only a policy stands there.
// It is empty where none is broken.
func broken(object *unstructured.Unstructured) string {
	kind, _, err := unstructured.NestedString(object.Object, "spec", "sourceRef", "kind")
	if err != nil || kind != "" && kind != sourcev1.GitRepositoryKind && kind != sourcev1.OCIRepositoryKind {
		return "spec.sourceRef.kind must be GitRepository or OCIRepository: tenants have no other sources"
	}
	labels, _, err := unstructured.NestedMap(object.Object, "spec", "commonMetadata", "labels")
	if err != nil {
		return "spec.commonMetadata.labels is no map: write it as the kind's schema says"
	}
	for _, label := range labelsFluxGoesBy {
		if _, set := labels[label]; set {
			return "spec.commonMetadata must not set labels that Flux goes by: remove " + label
		}
	}
	// The schema lets durations pass that Go cannot hold. Whoever lists Kustomizations of
	// all tenants would get none of them for one such.
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &kustomizev1.Kustomization{}); err != nil {
		return fmt.Sprintf("no controller could read it: %v: correct that field", err)
	}
	return ""
}

// holdsForEver says that a request adds a finalizer which nobody takes off, so that the
// namespace could never go.
func holdsForEver(request Request) bool {
	return slices.ContainsFunc(request.Object.GetFinalizers(), func(finalizer string) bool {
		return finalizer != kustomizev1.KustomizationFinalizer && (request.Old == nil || !slices.Contains(request.Old.GetFinalizers(), finalizer))
	})
}
