package helmrelease

import (
	"fmt"
	"maps"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/cozystack/gitops-operator/internal/removal"
)

// UserMetadataPrefix is what the applications API puts before the labels and annotations
// that somebody gave an application, to keep them on its HelmRelease.
const UserMetadataPrefix = "apps.cozystack.io-"

// Strip is the transform of a cache of HelmReleases: it keeps what is needed, by a list of
// that. Annotations that are not an application's own may hold the whole object
// (kubectl's last-applied-configuration), values included, so they go; those of an
// application stay but for that one, which has its spec with the passwords in it.
func Strip(object any) (any, error) {
	if gone, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		stripped, err := Strip(gone.Obj)
		gone.Obj = stripped
		return gone, err
	}
	release, ok := object.(*HelmRelease)
	if !ok {
		return nil, fmt.Errorf("cannot strip a %T: it is no HelmRelease", object)
	}
	annotations := maps.Clone(release.Annotations)
	maps.DeleteFunc(annotations, func(key, _ string) bool {
		own, isApplications := strings.CutPrefix(key, UserMetadataPrefix)
		return !isApplications || strings.HasPrefix(own, "kubectl.kubernetes.io/last-applied")
	})
	if kept, found := annotations[removal.ReleaseAnnotation]; found {
		annotations[removal.ReleaseAnnotation] = removal.Brief(kept)
	}
	if len(annotations) == 0 {
		annotations = nil
	}
	return &HelmRelease{
		TypeMeta: release.TypeMeta,
		ObjectMeta: metav1.ObjectMeta{
			Namespace: release.Namespace, Name: release.Name, UID: release.UID,
			ResourceVersion: release.ResourceVersion, Generation: release.Generation,
			CreationTimestamp: release.CreationTimestamp, DeletionTimestamp: release.DeletionTimestamp,
			Labels: release.Labels, Annotations: annotations,
		},
		Status: release.Status,
	}, nil
}
