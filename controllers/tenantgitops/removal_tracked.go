package tenantgitops

import (
	"fmt"
	"slices"
	"strings"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/helmrelease"
	"github.com/cozystack/gitops-operator/internal/pruneguard"
	"github.com/cozystack/gitops-operator/internal/removal"
)

// maxRemovalOff is how many applications a source's status names.
const maxRemovalOff = 20

// removalOff names, with the reason, the applications that keep what leaves git.
func removalOff(applications map[pruneguard.Application]bool, releases []helmrelease.HelmRelease, home string) []string {
	var named []string
	for i := range releases {
		application, ok := releases[i].Application()
		if !ok || !applications[application] {
			continue
		}
		_, off := removal.Tracking(releases[i].Annotations)
		if off == "" {
			continue
		}
		name := application.Name
		if application.Namespace != home {
			name = application.Namespace + "/" + name
		}
		// Whoever may write the annotation by hand could make it long.
		named = append(named, fmt.Sprintf("%s %s: %.200s", strings.ToLower(application.Kind), name, strings.ToValidUTF8(off, "")))
	}
	slices.Sort(named)
	if len(named) > maxRemovalOff {
		named = named[:maxRemovalOff]
	}
	return named
}

// setRemovalTracked says which applications keep what leaves git. Where there is none
// the condition is not there: most tenants never hear of it.
func (p *pass) setRemovalTracked() {
	var off []string
	for _, source := range p.tenant.Status.Sources {
		off = append(off, source.RemovalOff...)
	}
	if len(off) == 0 {
		apimeta.RemoveStatusCondition(&p.tenant.Status.Conditions, gitopsv1.RemovalTrackedCondition)
		return
	}
	apimeta.SetStatusCondition(&p.tenant.Status.Conditions, metav1.Condition{
		Type: gitopsv1.RemovalTrackedCondition, Status: metav1.ConditionFalse, Reason: gitopsv1.ReasonRemovalOff,
		Message: truncate("what leaves git stays in " + strings.Join(off, "; ") +
			"; make these smaller or split them, and take out by hand what is not in git"),
		ObservedGeneration: p.tenant.Generation,
	})
}
