package override

import (
	"fmt"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cozystack/gitops-operator/internal/packages"
)

// Write is a change of a HelmRelease's label and annotation, by which the webhook is asked.
type Write struct {
	Release types.NamespacedName
	// Overridden: it is to bear the label; otherwise neither the label nor the annotation.
	Overridden bool
	// Wanted is the annotation's value, another one for each state of the release.
	Wanted string
	// Digest of the values that it is to have afterwards.
	Digest string
}

// Plan is what is to be written, so that every release of the Package has its values and its
// label: nothing where that is so. Releases that cannot be answered for are left alone; those
// of the operator's own namespace always are, since the webhook is not asked about them.
func (s Snapshot) Plan(releases []packages.Release, operatorNamespace string) []Write {
	var writes []Write
	for i := range releases {
		release := &releases[i]
		key := types.NamespacedName{Namespace: release.Namespace, Name: release.Name}
		if !release.DeletionTimestamp.IsZero() || release.Namespace == operatorNamespace {
			continue
		}
		answer, err := s.ForRelease(key)
		if err != nil {
			continue
		}
		digest, err := packages.Digest(answer.Values)
		if err != nil {
			continue
		}
		_, labelled := release.Labels[packages.OverriddenLabel]
		_, annotated := release.Annotations[packages.WantedAnnotation]
		switch answer.Stance {
		case Overridden:
			if release.Labels[packages.OverriddenLabel] != packages.Overridden || release.Digest != digest {
				// What the release was when it lacked the values makes each try another one: the
				// same again would be no change, and nobody would be asked.
				writes = append(writes, Write{Release: key, Overridden: true, Wanted: fmt.Sprintf("%s at %s", digest, release.ResourceVersion), Digest: digest})
			}
		case Plain:
			if labelled || annotated {
				writes = append(writes, Write{Release: key, Digest: digest})
			}
		}
	}
	return writes
}
