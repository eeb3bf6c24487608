package webhook

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	verdict "github.com/cozystack/gitops-operator/internal/admission"
)

// deletedByGit answers for the deletion of an application by the git account of the
// Kustomization that applied it: what is no longer in the repository goes.
func (a *applications) deletedByGit(_ context.Context, _ admission.Request, _ verdict.Edit) admission.Response {
	return admission.Allowed("")
}
