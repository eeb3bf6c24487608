package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/cozystack/gitops-operator/internal/removal"
)

// applied answers for what git accounts write to applications: what has left git is taken
// out, where the API server cannot do that itself.
type applied struct{ kinds *applicationKinds }

// Handle changes nothing where the API server stores managed fields. What is stored says
// so; for what is new, the kind of API server that serves applications does.
func (a *applied) Handle(ctx context.Context, request admission.Request) admission.Response {
	written := removal.Apply{Object: &unstructured.Unstructured{}}
	if err := written.Object.UnmarshalJSON(request.Object.Raw); err != nil {
		return admission.Errored(http.StatusBadRequest, fmt.Errorf("cannot parse the object: %w", err))
	}
	if len(request.OldObject.Raw) > 0 {
		written.Old = &unstructured.Unstructured{}
		if err := written.Old.UnmarshalJSON(request.OldObject.Raw); err != nil {
			return admission.Errored(http.StatusBadRequest, fmt.Errorf("cannot parse the stored object: %w", err))
		}
		if len(written.Old.GetManagedFields()) > 0 {
			return admission.Allowed("")
		}
	}
	aggregated, err := a.kinds.aggregated(ctx)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	if !aggregated {
		return admission.Allowed("")
	}
	if written.Schema, err = a.kinds.schema(ctx, request.Kind.Kind); err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	removed := removal.Decide(written)
	if removed == nil {
		return admission.Allowed("")
	}
	stored, err := json.Marshal(removed.Object)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, fmt.Errorf("cannot encode the application: %w", err))
	}
	return admission.PatchResponseFromRaw(request.Object.Raw, stored)
}
