package tenantgitops

import (
	"context"
	"errors"
	"fmt"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/names"
	"github.com/cozystack/gitops-operator/internal/oversize"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

// artifactBound is how large an artifact may be.
func (p *pass) artifactBound(ctx context.Context) (resource.Quantity, error) {
	parameters := &gitopsv1.GitOpsParameters{}
	err := p.Client.Get(ctx, client.ObjectKey{Name: gitopsv1.GitOpsParametersName}, parameters)
	if client.IgnoreNotFound(err) != nil {
		return resource.Quantity{}, fmt.Errorf("cannot read GitOpsParameters %s: %w", gitopsv1.GitOpsParametersName, err)
	}
	return parameters.ArtifactBound(), nil
}

// oversized are the sources of the spec that may not fetch, with the digests of what they
// fetched, and makes that their problem.
func (p *pass) oversized() map[string]string {
	held := map[string]string{}
	for _, source := range p.tenant.Spec.Sources {
		stored := p.live.source(sourceKind(source), names.FluxObject(source.Name))
		if stored == nil || !isStamped(stored.object) {
			continue
		}
		wanted := stamp.Content(source)
		if !oversize.MustBeHeld(stored.stored, wanted, p.bound) {
			continue
		}
		held[source.Name] = wanted
		if _, has := p.problems[source.Name]; !has {
			p.problems[source.Name] = problem{
				reason:  gitopsv1.ReasonArtifactTooLarge,
				message: oversize.Message(stored.stored.Size(), p.bound),
				stalled: true,
			}
		}
	}
	return held
}

func sourceKind(source gitopsv1.Source) string {
	if source.OCI != nil {
		return sourcev1.OCIRepositoryKind
	}
	return sourcev1.GitRepositoryKind
}

// holdOthers suspends those sources of the namespace that fetched too much and were not
// stamped in this pass, and gives back those that may try again. Stamped are the sources
// that were: of those only what is left of a hold from before they were is taken off.
// One that is refused keeps no other from being held: the errors come joined.
func (p *pass) holdOthers(ctx context.Context, stamped []gitopsv1.Source) error {
	settled := map[string]bool{}
	for _, source := range stamped {
		if !p.problems[source.Name].held {
			settled[sourceKind(source)+"/"+names.FluxObject(source.Name)] = true
		}
	}
	var refused []error
	for _, source := range p.live.sources {
		if !source.object.GetDeletionTimestamp().IsZero() {
			continue
		}
		held := source.stored.Held != "" && source.stored.Held == source.stored.Content
		must := oversize.MustBeHeld(source.stored, source.stored.Content, p.bound)
		var err error
		switch {
		case settled[source.kind+"/"+source.object.GetName()]:
			// Whether it is held was stamped.
			if source.stored.Held != "" && !must {
				err = p.Applier.Resume(ctx, source.object)
			}
		case must && (!held || !source.suspended):
			err = p.Applier.Suspend(ctx, source.object, oversize.HeldAnnotation, source.stored.Content)
			if err == nil {
				p.Events.Eventf(p.tenant, source.object, corev1.EventTypeWarning, gitopsv1.ReasonArtifactTooLarge, "Suspend", "%s",
					eventText(fmt.Sprintf("%s %s: %s", source.kind, source.object.GetName(), oversize.Message(source.stored.Size(), p.bound))))
			}
		case !must && source.stored.Held != "":
			err = p.Applier.Resume(ctx, source.object)
		}
		if err != nil {
			refused = append(refused, err)
		}
	}
	return errors.Join(refused...)
}

// unhold resumes the Kustomization of a removed source that only the size of the artifact
// had suspended: suspended, it would delete nothing, whatever its deletionPolicy.
func (p *pass) unhold(ctx context.Context, kustomization *kustomizev1.Kustomization) error {
	resumed := kustomization.DeepCopy()
	p.resume(resumed)
	return p.patchKustomization(ctx, kustomization, resumed)
}

// resume takes the suspension by size off a Kustomization.
func (p *pass) resume(kustomization *kustomizev1.Kustomization) {
	if _, held := kustomization.Annotations[oversize.HeldAnnotation]; !held {
		return
	}
	delete(kustomization.Annotations, oversize.HeldAnnotation)
	kustomization.Spec.Suspend = p.tenant.Spec.Suspend
}
