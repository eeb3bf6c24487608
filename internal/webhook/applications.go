package webhook

import (
	"context"
	"fmt"
	"net/http"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	verdict "github.com/cozystack/gitops-operator/internal/admission"
	"github.com/cozystack/gitops-operator/internal/tenancy"
)

// applications answers for changes and deletions of applications that carry Flux's label.
type applications struct{ facts }

// Handle asks the API server for all that it decides by: people seldom edit what git
// manages, while a cache that lags could refuse what git has let go of, or allow what it
// has just taken up.
func (a *applications) Handle(ctx context.Context, request admission.Request) admission.Response {
	edit, err := parseEdit(request)
	if err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	if edit.Object == nil && edit.ByGit() {
		return a.deletedByGit(ctx, request, edit)
	}
	parameters, err := a.parameters(ctx)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	if edit.Exempt(parameters.AdminGroups) {
		return admission.Allowed("")
	}
	known, err := a.ofEdit(ctx, edit)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	if decided := verdict.DecideEdit(edit, known); decided.Outcome == verdict.Refused {
		return admission.Denied(decided.Message)
	}
	return admission.Allowed("")
}

func parseEdit(request admission.Request) (verdict.Edit, error) {
	edit := verdict.Edit{
		Namespace: request.Namespace, User: request.UserInfo.Username, Groups: request.UserInfo.Groups,
		Old: &unstructured.Unstructured{},
	}
	if err := edit.Old.UnmarshalJSON(request.OldObject.Raw); err != nil {
		return edit, fmt.Errorf("cannot parse the stored object: %w", err)
	}
	if len(request.Object.Raw) == 0 {
		return edit, nil
	}
	edit.Object = &unstructured.Unstructured{}
	if err := edit.Object.UnmarshalJSON(request.Object.Raw); err != nil {
		return edit, fmt.Errorf("cannot parse the object: %w", err)
	}
	return edit, nil
}

// ofEdit reads who has the application, as far as that is needed.
func (a *applications) ofEdit(ctx context.Context, edit verdict.Edit) (verdict.EditFacts, error) {
	key, named := edit.Owner()
	if !named {
		return verdict.EditFacts{}, nil
	}
	owner := &kustomizev1.Kustomization{}
	switch err := a.uncached.Get(ctx, key, owner); {
	case apierrors.IsNotFound(err):
		return verdict.EditFacts{}, nil
	case err != nil:
		return verdict.EditFacts{}, fmt.Errorf("cannot read Kustomization %s: %w", key, err)
	}
	namespace, err := readNamespace(ctx, a.uncached, edit.Namespace)
	if err != nil {
		return verdict.EditFacts{}, err
	}
	known := verdict.EditFacts{
		Terminating:    !namespace.DeletionTimestamp.IsZero(),
		Owner:          owner,
		OwnerFromAbove: a.tenancy.Contains(key.Namespace, tenancy.Namespace{Name: namespace.Name, Labels: namespace.Labels}),
	}
	known.Repository, err = a.repository(ctx, owner)
	return known, err
}

// repository reads where a Kustomization is fed from.
func (a *applications) repository(ctx context.Context, owner *kustomizev1.Kustomization) (verdict.Repository, error) {
	ref := owner.Spec.SourceRef
	key := client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}
	if key.Namespace == "" {
		key.Namespace = owner.Namespace
	}
	var err error
	switch ref.Kind {
	case sourcev1.GitRepositoryKind:
		source := &sourcev1.GitRepository{}
		if err = a.uncached.Get(ctx, key, source); err == nil {
			return verdict.GitRepository(source), nil
		}
	case sourcev1.OCIRepositoryKind:
		source := &sourcev1.OCIRepository{}
		if err = a.uncached.Get(ctx, key, source); err == nil {
			return verdict.OCIRepository(source), nil
		}
	}
	if client.IgnoreNotFound(err) != nil {
		return verdict.Repository{}, fmt.Errorf("cannot read %s %s: %w", ref.Kind, key, err)
	}
	return verdict.NamedSource(ref.Kind, ref.Name), nil
}
