package ownership

import (
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cozystack/gitops-operator/internal/stamp"
)

// Sources are what the sources of one namespace have fetched, by kind and name.
type Sources map[string]*Fetched

// FetchedBy reads the sources of one namespace.
func FetchedBy(git []sourcev1.GitRepository, oci []sourcev1.OCIRepository) Sources {
	sources := Sources{}
	for i := range git {
		s := &git[i]
		sources[sourcev1.GitRepositoryKind+"/"+s.Name] = fetched(&s.ObjectMeta, s.Spec.Suspend, s.Status.Artifact, s.Status.LastHandledReconcileAt)
	}
	for i := range oci {
		s := &oci[i]
		sources[sourcev1.OCIRepositoryKind+"/"+s.Name] = fetched(&s.ObjectMeta, s.Spec.Suspend, s.Status.Artifact, s.Status.LastHandledReconcileAt)
	}
	return sources
}

// fetched reads one source. The operator may ask only those that it stamped.
func fetched(object *metav1.ObjectMeta, suspended bool, artifact *meta.Artifact, handled string) *Fetched {
	f := &Fetched{Artifact: artifact, Handled: handled}
	f.CanBeAsked = !suspended && object.DeletionTimestamp.IsZero() && object.Labels[stamp.ManagedByLabel] == stamp.ManagedBy
	f.Requested, _ = meta.ReconcileAnnotationValue(object.Annotations)
	return f
}

// Of is what the source of a Kustomization of the namespace has fetched; nil where it is
// not there, or of a kind that tenants cannot use.
func (s Sources) Of(k *kustomizev1.Kustomization) *Fetched {
	if ns := k.Spec.SourceRef.Namespace; ns != "" && ns != k.Namespace {
		return nil
	}
	return s[k.Spec.SourceRef.Kind+"/"+k.Spec.SourceRef.Name]
}
