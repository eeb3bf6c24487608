package tenantgitops

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/oversize"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

func readySaid(status metav1.ConditionStatus, reason, message string) []metav1.Condition {
	return []metav1.Condition{{Type: meta.ReadyCondition, Status: status, Reason: reason, Message: message, ObservedGeneration: 1}}
}

func handWritten(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: "tenant-acme", Name: name, Generation: 1}
}

func TestUnmanaged(t *testing.T) {
	bound := resource.MustParse("1Ki")
	stamped := map[string]string{stamp.TenantLabel: "tenant-acme", stamp.ManagedByLabel: stamp.ManagedBy}
	size := int64(2048)

	failing := &kustomizev1.Kustomization{ObjectMeta: handWritten("b")}
	failing.Status.Conditions = readySaid(metav1.ConditionFalse, meta.BuildFailedReason, strings.Repeat("é", 600))
	failing.Status.LastAppliedRevision = "main@sha1:1"
	again := &kustomizev1.Kustomization{ObjectMeta: handWritten("a")}
	again.Status.Conditions = readySaid(metav1.ConditionUnknown, meta.ProgressingReason, "reconciling")
	again.Spec.Suspend = true
	ours := &kustomizev1.Kustomization{ObjectMeta: handWritten("gitops-apps")}
	ours.Labels = stamped

	large := &sourcev1.GitRepository{ObjectMeta: handWritten("large")}
	large.Spec.Suspend = true
	large.Status.Artifact = &meta.Artifact{Revision: "main@sha1:2", Size: &size}
	large.Annotations = map[string]string{oversize.HeldAnnotation: oversize.GitContent(large.Spec)}
	changed := &sourcev1.GitRepository{ObjectMeta: handWritten("changed")}
	changed.Generation = 2
	changed.Status.Conditions = readySaid(metav1.ConditionTrue, meta.SucceededReason, "of the spec before")
	mine := &sourcev1.OCIRepository{ObjectMeta: handWritten("gitops-oci")}
	mine.Labels = stamped

	l := &live{
		kustomizations: map[string]*kustomizev1.Kustomization{"a": again, "b": failing, "gitops-apps": ours},
		sources:        []tenantSource{gitSource(changed), gitSource(large), ociSource(mine)},
	}
	before := []gitopsv1.UnmanagedObject{{Kind: "Kustomization", Name: "a", Ready: metav1.ConditionTrue, Reason: "ReconciliationSucceeded", Message: "applied"}}
	got, count := l.unmanaged(bound, before)
	want := []gitopsv1.UnmanagedObject{
		{Kind: "GitRepository", Name: "changed", Ready: metav1.ConditionUnknown},
		{Kind: "GitRepository", Name: "large", Ready: metav1.ConditionFalse, Reason: gitopsv1.ReasonArtifactTooLarge, Message: oversize.Message(size, bound), Revision: "main@sha1:2", Suspended: true},
		{Kind: "Kustomization", Name: "a", Ready: metav1.ConditionTrue, Reason: "ReconciliationSucceeded", Message: "applied", Suspended: true},
		{Kind: "Kustomization", Name: "b", Ready: metav1.ConditionFalse, Reason: meta.BuildFailedReason, Message: strings.Repeat("é", 256) + "…", Revision: "main@sha1:1"},
	}
	if count != 4 || !reflect.DeepEqual(got, want) {
		t.Errorf("%d:\n%+v\nwant\n%+v", count, got, want)
	}
}

func TestUnmanagedIsBounded(t *testing.T) {
	l := &live{}
	for i := range 2 * gitopsv1.MaxUnmanaged {
		l.sources = append(l.sources, gitSource(&sourcev1.GitRepository{ObjectMeta: handWritten(fmt.Sprintf("r%03d", 99-i))}))
	}
	got, count := l.unmanaged(resource.MustParse("1Ki"), nil)
	if len(got) != gitopsv1.MaxUnmanaged || count != 100 || got[0].Name != "r000" || got[49].Name != "r049" {
		t.Errorf("%d of %d, from %s to %s", len(got), count, got[0].Name, got[len(got)-1].Name)
	}
}
