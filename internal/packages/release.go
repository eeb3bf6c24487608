package packages

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/cozystack/gitops-operator/internal/helmrelease"
)

// Release is what is read of the HelmRelease of a component. Its values are there only while
// it is decoded: Strip keeps their digest.
type Release struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ReleaseSpec        `json:"spec,omitempty"`
	Status helmrelease.Status `json:"status,omitempty"`

	// Digest of the values, as Digest makes it.
	Digest string `json:"-"`
}

// ReleaseSpec is what is read of the spec.
type ReleaseSpec struct {
	Suspend bool                  `json:"suspend,omitempty"`
	Values  *apiextensionsv1.JSON `json:"values,omitempty"`
}

// ReleaseList is a list of Releases.
type ReleaseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Release `json:"items"`
}

// AddReleasesToScheme lets a client read HelmReleases as Releases. That is another scheme than
// the one in which they have no spec at all.
func AddReleasesToScheme(scheme *runtime.Scheme) error {
	scheme.AddKnownTypeWithName(helmrelease.GroupVersion.WithKind("HelmRelease"), &Release{})
	scheme.AddKnownTypeWithName(helmrelease.GroupVersion.WithKind("HelmReleaseList"), &ReleaseList{})
	metav1.AddToGroupVersion(scheme, helmrelease.GroupVersion)
	return nil
}

// State is what helm-controller says of the release.
func (r *Release) State() helmrelease.State {
	seen := helmrelease.HelmRelease{ObjectMeta: metav1.ObjectMeta{Generation: r.Generation}, Status: r.Status}
	return seen.State()
}

// Strip is the transform of a cache of Releases: values may hold passwords, and so may
// annotations (kubectl's last-applied-configuration). None of them stays but our own. What is
// stripped already stays as it is.
func Strip(object any) (any, error) {
	if gone, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		stripped, err := Strip(gone.Obj)
		gone.Obj = stripped
		return gone, err
	}
	release, ok := object.(*Release)
	if !ok {
		return nil, fmt.Errorf("cannot strip a %T: it is no Release", object)
	}
	digest := release.Digest
	if release.Spec.Values != nil {
		var err error
		if digest, err = Digest(release.Spec.Values.Raw); err != nil {
			return nil, fmt.Errorf("cannot read the values of HelmRelease %s/%s: %w", release.Namespace, release.Name, err)
		}
	}
	var annotations map[string]string
	if wanted, found := release.Annotations[WantedAnnotation]; found {
		annotations = map[string]string{WantedAnnotation: wanted}
	}
	return &Release{
		TypeMeta: release.TypeMeta,
		ObjectMeta: metav1.ObjectMeta{
			Namespace: release.Namespace, Name: release.Name, UID: release.UID,
			ResourceVersion: release.ResourceVersion, Generation: release.Generation,
			CreationTimestamp: release.CreationTimestamp, DeletionTimestamp: release.DeletionTimestamp,
			Labels: release.Labels, Annotations: annotations,
		},
		Spec:   ReleaseSpec{Suspend: release.Spec.Suspend},
		Status: release.Status,
		Digest: digest,
	}, nil
}

const (
	// OverriddenLabel is on every HelmRelease whose values are overridden: the webhook is asked
	// about those, and about no other.
	OverriddenLabel = "gitops.cozystack.io/values-overridden"
	// Overridden is its value.
	Overridden = "true"
	// WantedAnnotation changes where a release is to be written anew, so that the webhook is
	// asked: it tells which values the release was found to lack.
	WantedAnnotation = "gitops.cozystack.io/values-wanted"
)

// Digest of values, the same for what the API server makes the same of when it stores them:
// it orders keys, and keeps of a number what a 64-bit integer or float holds. No values at
// all have an empty one. It returns an error, which says nothing of what is in them, for what
// the API server would not store.
func Digest(values []byte) (string, error) {
	if len(values) == 0 {
		return "", nil
	}
	canonical := values
	// Twice, since -0.0 is stored as -0, which is read as 0.
	for range 2 {
		var content any
		if err := utiljson.Unmarshal(canonical, &content); err != nil {
			return "", errUnstorable
		}
		var err error
		if canonical, err = utiljson.Marshal(content); err != nil {
			return "", errUnstorable
		}
	}
	sum := sha256.Sum256(canonical)
	return "sha256:" + hex.EncodeToString(sum[:]), nil
}

var errUnstorable = errors.New("the values are no JSON, or have a number that no 64-bit float holds")
