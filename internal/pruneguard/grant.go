package pruneguard

import (
	"encoding/json"
	"slices"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	"github.com/cozystack/gitops-operator/internal/stamp"
)

// Grant says what may be deleted. It holds for one revision under one spec: another
// path or target would delete others. What a substitution takes from a ConfigMap or a
// Secret is in neither, so that it is the names which hold there.
type Grant struct {
	Revision   string `json:"revision"`
	Generation int64  `json:"generation"`
	// Applications that may be deleted, by the names that Flux reports.
	Applications []string `json:"applications,omitempty"`
	// Confirmed: the tenant has confirmed the revision, whatever it deletes: Flux does
	// not report the names of hundreds.
	Confirmed bool `json:"confirmed,omitempty"`
}

// Annotation is the grant as the value of stamp.PruneGrantedAnnotation; empty for none.
func (g *Grant) Annotation() string {
	if g == nil {
		return ""
	}
	// Strings, a number and a boolean: this cannot fail.
	content, _ := json.Marshal(g)
	return string(content)
}

// fittingGrant is the grant that a Kustomization carries, if it is for the revision that
// is being applied and for the spec as it is now. What cannot be read grants nothing.
func fittingGrant(k *kustomizev1.Kustomization) *Grant {
	annotation := k.Annotations[stamp.PruneGrantedAnnotation]
	if annotation == "" {
		return nil
	}
	grant := &Grant{}
	if err := json.Unmarshal([]byte(annotation), grant); err != nil {
		return nil
	}
	if grant.Revision == "" || grant.Revision != k.Status.LastAttemptedRevision || grant.Generation != k.Generation {
		return nil
	}
	return grant
}

func (g *Grant) covers(application Application) bool {
	return g != nil && (g.Confirmed || slices.Contains(g.Applications, application.String()))
}
