package customizer

import (
	"context"
	"fmt"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/internal/customizer"
	"github.com/cozystack/gitops-operator/internal/fluxstatus"
)

// look reads what Flux says of a Customizer's objects.
func (r *Reconciler) look(ctx context.Context, stack *customizer.Stack) (customizer.Seen, error) {
	var seen customizer.Seen
	key := client.ObjectKeyFromObject(stack.Kustomization)
	kustomization := &kustomizev1.Kustomization{}
	switch err := r.Flux.Get(ctx, key, kustomization); {
	case err == nil:
		seen.Kustomization = kustomization
	case !apierrors.IsNotFound(err):
		return seen, fmt.Errorf("cannot read Kustomization %s: %w", key, err)
	}
	fetched := stack.Fetched.DeepCopyObject().(client.Object)
	switch err := r.Flux.Get(ctx, key, fetched); {
	case apierrors.IsNotFound(err):
		return seen, nil
	case err != nil:
		return seen, fmt.Errorf("cannot read %T %s: %w", fetched, key, err)
	}
	switch repository := fetched.(type) {
	case *sourcev1.GitRepository:
		seen.Fetched = &fluxstatus.Fetched{Generation: repository.Generation, Conditions: repository.Status.Conditions, Artifact: repository.Status.Artifact}
	case *sourcev1.OCIRepository:
		seen.Fetched = &fluxstatus.Fetched{Generation: repository.Generation, Conditions: repository.Status.Conditions, Artifact: repository.Status.Artifact}
	}
	return seen, nil
}
