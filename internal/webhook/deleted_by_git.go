package webhook

import (
	"context"
	"fmt"
	"net/http"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	verdict "github.com/cozystack/gitops-operator/internal/admission"
	"github.com/cozystack/gitops-operator/internal/pruneguard"
)

// deletedByGit answers for the deletion of an application by the git account of the
// Kustomization that applied it: what is no longer in the repository goes, as far as the
// prune guard lets it. The Kustomization is read from the API server: a cache could still
// have the revision before, and what was granted for that.
func (a *applications) deletedByGit(ctx context.Context, request admission.Request, edit verdict.Edit) admission.Response {
	key, _ := edit.Owner()
	owner := &kustomizev1.Kustomization{}
	switch err := a.uncached.Get(ctx, key, owner); {
	case apierrors.IsNotFound(err):
		return admission.Allowed("")
	case err != nil:
		return admission.Errored(http.StatusInternalServerError, fmt.Errorf("cannot read Kustomization %s: %w", key, err))
	}
	refusal := pruneguard.Refusal(owner, pruneguard.Application{
		Namespace: edit.Old.GetNamespace(), Name: edit.Old.GetName(), Kind: request.Kind.Kind,
	})
	if refusal != "" {
		return admission.Denied(refusal)
	}
	return admission.Allowed("")
}
