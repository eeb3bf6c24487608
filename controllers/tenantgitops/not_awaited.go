package tenantgitops

import (
	"context"
	"slices"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/helmrelease"
	"github.com/cozystack/gitops-operator/internal/names"
	"github.com/cozystack/gitops-operator/internal/pruneguard"
)

// notAwaited are the sources that have something to prune, and nothing else left to do:
// whoever depends on one of them may have it by now, and shows that only by being applied.
//
// Flux prunes before it looks at health, so a dependency that waits for the health of what
// it applies has not said anything of that yet. Its releases do.
func (p *pass) notAwaited(ctx context.Context, releasesServed bool, targets []string) map[string]bool {
	sources := map[string]bool{}
	for _, source := range p.tenant.Spec.Sources {
		k := p.live.kustomizations[names.FluxObject(source.Name)]
		if p.prunes[source.Name].Prune == nil || k == nil {
			continue
		}
		stays := staying(k, p.prunes[source.Name].Prune)
		if len(awaitedOf(source, stays)) == 0 || !releasesServed {
			sources[source.Name] = true
			continue
		}
		releases, err := p.releases.In(ctx, append([]string{p.tenant.Namespace}, targets...)...)
		if err != nil {
			// The pass fails by the same, when all that can be done is done.
			ctrl.LoggerFrom(ctx).Error(err, "cannot tell whether a source is healthy that others depend on", "source", source.Name)
			continue
		}
		if allReady(awaitedOf(source, stays), releases) {
			sources[source.Name] = true
		}
	}
	return sources
}

// staying are the applications of a Kustomization that it does not want to prune.
func staying(k *kustomizev1.Kustomization, prune *gitopsv1.PruneStatus) []pruneguard.Application {
	letGo := pruneguard.LetGo(k)
	var stays []pruneguard.Application
	for application := range pruneguard.Applications(k) {
		if !slices.Contains(letGo, application) && !slices.Contains(prune.Names, application.String()) {
			stays = append(stays, application)
		}
	}
	return stays
}

// awaitedOf are those of a source's applications whose health it waits for.
func awaitedOf(source gitopsv1.Source, applications []pruneguard.Application) []pruneguard.Application {
	if source.Wait {
		// As for Flux, which then does not look at healthChecks.
		return applications
	}
	var awaited []pruneguard.Application
	for _, application := range applications {
		for _, check := range source.HealthChecks {
			if check.Kind == application.Kind && check.Name == application.Name && check.Namespace == application.Namespace {
				awaited = append(awaited, application)
			}
		}
	}
	return awaited
}

// allReady says whether there is a release for each application, and all are ready.
func allReady(applications []pruneguard.Application, releases []helmrelease.HelmRelease) bool {
	ready := map[pruneguard.Application]bool{}
	for i := range releases {
		if application, ok := releases[i].Application(); ok {
			before, seen := ready[application]
			ready[application] = (before || !seen) && releases[i].State().Phase == helmrelease.Ready
		}
	}
	return !slices.ContainsFunc(applications, func(application pruneguard.Application) bool { return !ready[application] })
}
