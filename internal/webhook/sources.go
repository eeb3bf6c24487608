package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	verdict "github.com/cozystack/gitops-operator/internal/admission"
)

// sources answers for new sources in tenants' namespaces.
type sources struct {
	facts
	// operator is the user that passes.
	operator string
	claims   sourceClaims
}

func newSources(f facts, operator string) *sources {
	return &sources{facts: f, operator: operator}
}

// Handle asks the API server, not the cache: sources are seldom made, and a cache that
// lags could refuse the first one or let one too many through.
func (s *sources) Handle(ctx context.Context, request admission.Request) admission.Response {
	object := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(request.Object.Raw, object); err != nil {
		return admission.Errored(http.StatusBadRequest, fmt.Errorf("cannot parse the object: %w", err))
	}
	source := verdict.NewSource{
		Namespace: request.Namespace, Kind: request.Kind.Kind, Name: object.Name,
		User: request.UserInfo.Username, Groups: request.UserInfo.Groups,
	}
	parameters, err := s.parameters(ctx)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	tenant, err := s.isTenant(ctx, request.Namespace)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	if !tenant || source.Exempt(s.operator, parameters.AdminGroups) {
		return admission.Allowed("")
	}
	known := verdict.SourceFacts{Max: int(parameters.MaxSources)}
	if known.HasTenantGitOps, err = hasTenantGitOps(ctx, s.uncached, request.Namespace); err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	var decided verdict.Verdict
	// A name that the API server makes is made by now.
	id := sourceID{kind: source.Kind, name: source.Name}
	err = s.claims.inTurn(ctx, request.Namespace, id, s.existing(ctx, request.Namespace), func(count count) {
		known.Others = count.others
		decided = verdict.DecideSource(source, known)
		if decided.Outcome != verdict.Refused && (request.DryRun == nil || !*request.DryRun) {
			count.take()
		}
	})
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	if decided.Outcome == verdict.Refused {
		return admission.Denied(decided.Message)
	}
	return admission.Allowed("")
}

// existing lists the sources of a namespace.
func (s *sources) existing(ctx context.Context, namespace string) func() ([]sourceID, error) {
	return func() ([]sourceID, error) {
		var found []sourceID
		for _, kind := range []string{sourcev1.GitRepositoryKind, sourcev1.OCIRepositoryKind} {
			list := &metav1.PartialObjectMetadataList{}
			list.SetGroupVersionKind(sourcev1.GroupVersion.WithKind(kind + "List"))
			if err := s.uncached.List(ctx, list, client.InNamespace(namespace)); err != nil {
				return nil, fmt.Errorf("cannot count the sources of %s: %w", namespace, err)
			}
			for i := range list.Items {
				found = append(found, sourceID{kind: kind, name: list.Items[i].Name})
			}
		}
		return found, nil
	}
}
