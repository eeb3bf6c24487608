package oversize

import (
	"fmt"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Source is a source as it is stored.
type Source struct {
	// Generation of the spec, and the digest of its content.
	Generation int64
	Content    string
	// Held is the value of HeldAnnotation.
	Held string
	// Artifact was fetched last, maybe by an earlier spec; Conditions say by which.
	Artifact   *meta.Artifact
	Conditions []metav1.Condition
}

// Size of the artifact in bytes; 0 where there is none.
func (s Source) Size() int64 {
	if s.Artifact == nil || s.Artifact.Size == nil {
		return 0
	}
	return *s.Artifact.Size
}

// MustBeHeld says whether a source that is to have the wanted content must not fetch: it has
// fetched just that, and it was too large. A source that is held already fetches nothing,
// so of that one the artifact is still that of its content.
func MustBeHeld(source Source, wanted string, bound resource.Quantity) bool {
	if source.Size() <= bound.Value() {
		return false
	}
	return source.Held == wanted || source.Content == wanted && source.fetchedAsItIs()
}

// fetchedAsItIs says whether the artifact is what the spec of now asks for: until it is
// fetched, source-controller leaves that of the spec before in place.
func (s Source) fetchedAsItIs() bool {
	condition := apimeta.FindStatusCondition(s.Conditions, sourcev1.ArtifactInStorageCondition)
	return condition != nil && condition.Status == metav1.ConditionTrue && condition.ObservedGeneration >= s.Generation
}

// Message says what is wrong with a source that is held, and every mend.
func Message(size int64, bound resource.Quantity) string {
	return fmt.Sprintf("what was fetched takes %d bytes, and %s (%d bytes) are allowed, so the source is suspended: leave files out with ignore, "+
		"or name another ref or url, since a change of any of them gives it another try; or ask the platform's admin to raise spec.maxArtifactSize of GitOpsParameters gitops",
		size, bound.String(), bound.Value())
}
