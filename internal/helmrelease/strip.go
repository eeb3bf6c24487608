package helmrelease

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/cozystack/gitops-operator/internal/removal"
)

// Strip is the transform of a cache of HelmReleases: it keeps what is needed, by a list of
// that. Annotations may hold the whole object (kubectl's last-applied-configuration), with
// the passwords in it, and anything else that a tenant puts there, up to 256 KiB for each
// application: none stays but the one that says whether removal works.
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
	var annotations map[string]string
	if kept, found := release.Annotations[removal.ReleaseAnnotation]; found {
		annotations = map[string]string{removal.ReleaseAnnotation: removal.Brief(kept)}
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
