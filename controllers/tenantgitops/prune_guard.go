package tenantgitops

import (
	"context"
	"slices"
	"time"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/names"
	"github.com/cozystack/gitops-operator/internal/pruneguard"
)

// guardPrunes decides what each source may delete, and returns the annotations that
// say so in the sources' Kustomizations.
func (p *pass) guardPrunes() map[string]string {
	p.prunes = map[string]pruneguard.Decision{}
	granted := map[string]string{}
	for _, source := range p.tenant.Spec.Sources {
		facts := pruneguard.Facts{
			Kustomization: p.live.kustomizations[names.FluxObject(source.Name)],
			Confirm:       source.ConfirmPrune,
		}
		at := slices.IndexFunc(p.tenant.Status.Sources, func(s gitopsv1.SourceStatus) bool { return s.Name == source.Name })
		if at >= 0 {
			facts.Before = &p.tenant.Status.Sources[at]
		}
		decision := pruneguard.Decide(facts)
		p.prunes[source.Name] = decision
		granted[source.Name] = decision.Grant.Annotation()
	}
	return granted
}

// askToPrune asks Flux to delete what it has been granted. The grant is written before:
// an attempt without it would be refused once more, and nothing would ask again. An
// operator that is killed in between asks in its next pass.
func (p *pass) askToPrune(ctx context.Context) error {
	for _, source := range p.tenant.Spec.Sources {
		if !p.prunes[source.Name].Ask || p.problems[source.Name].held {
			continue
		}
		if err := p.Applier.Request(ctx, p.live.kustomizations[names.FluxObject(source.Name)], time.Now()); err != nil {
			return err
		}
	}
	return nil
}
