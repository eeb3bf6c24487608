package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/override"
)

// packageValues refuses PackageValues that could not be laid over any Package.
type packageValues struct{}

// Handle reads nothing but the object.
func (packageValues) Handle(_ context.Context, request admission.Request) admission.Response {
	values := &cozyv1.PackageValues{}
	if err := json.Unmarshal(request.Object.Raw, values); err != nil {
		return admission.Errored(http.StatusBadRequest, fmt.Errorf("cannot parse the PackageValues: %w", err))
	}
	if err := override.Validate(values.Spec); err != nil {
		return admission.Denied(err.Error())
	}
	return admission.Allowed("")
}
