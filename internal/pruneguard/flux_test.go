package pruneguard

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

const tenant = "tenant-acme"

// setup is a source as Flux, the webhook and the reconciler see it by turns: one
// Kustomization, which applications there are, and what the status says.
type setup struct {
	t       *testing.T
	k       *kustomizev1.Kustomization
	cluster map[string]bool
	status  *gitopsv1.SourceStatus
	confirm string
	// denied are applications whose deletion fails for another reason.
	denied map[string]bool
}

// newSetup has applied revision r1 with so many applications.
func newSetup(t *testing.T, count int) *setup {
	t.Helper()
	s := &setup{t: t, k: &kustomizev1.Kustomization{}, cluster: map[string]bool{}, denied: map[string]bool{}}
	s.k.Namespace, s.k.Name, s.k.Generation = tenant, "gitops-apps", 1
	s.k.Labels = map[string]string{
		stamp.ManagedByLabel: stamp.ManagedBy, stamp.TenantLabel: tenant, stamp.SourceLabel: "apps",
	}
	s.k.Spec.Prune = true
	s.flux("r1", names(0, count)...)
	s.operator()
	return s
}

// names are those of the applications from the first to before the last number.
func names(first, last int) []string {
	var all []string
	for i := first; i < last; i++ {
		all = append(all, fmt.Sprintf("app-%03d", i))
	}
	return all
}

func application(name string) Application {
	return Application{Namespace: tenant, Name: name, Kind: "Redis"}
}

func entry(name string) kustomizev1.ResourceRef {
	return kustomizev1.ResourceRef{ID: fmt.Sprintf("%s_%s_%s_Redis", tenant, name, stamp.ApplicationsGroup), Version: "v1alpha1"}
}

// flux makes one attempt, in the steps in which kustomize-controller 1.9 does.
func (s *setup) flux(revision string, wanted ...string) {
	s.t.Helper()
	k := s.k
	requested, _ := meta.ReconcileAnnotationValue(k.Annotations)
	k.Status.LastAttemptedRevision = revision
	setReady(k, metav1.ConditionUnknown, meta.ProgressingReason, "Reconciliation in progress")
	var old []kustomizev1.ResourceRef
	if k.Status.Inventory != nil {
		old = k.Status.Inventory.Entries
	}
	var inventory []kustomizev1.ResourceRef
	for _, name := range wanted {
		s.cluster[name] = true
		inventory = append(inventory, entry(name))
	}
	var stale []string
	for name := range s.cluster {
		if slices.Contains(old, entry(name)) && !slices.Contains(wanted, name) {
			stale = append(stale, name)
		}
	}
	slices.Sort(stale)
	report := ""
	for _, name := range stale {
		// The stored status is that of the last patch: the old inventory.
		refusal := Refusal(k, application(name))
		switch {
		case s.denied[name]:
			report += application(name).String() + " delete failed: it is forbidden;"
		case refusal != "":
			report += fmt.Sprintf(`%s delete failed: admission webhook "applications.gitops.cozystack.io" denied the request: %s;`, application(name), refusal)
		default:
			delete(s.cluster, name)
			continue
		}
		inventory = append(inventory, entry(name))
	}
	k.Status.Inventory = &kustomizev1.ResourceInventory{Entries: inventory}
	k.Status.LastHandledReconcileAt = requested
	if report != "" {
		setReady(k, metav1.ConditionFalse, meta.PruneFailedReason, "delete failed, errors: "+report)
		return
	}
	k.Status.LastAppliedRevision = revision
	setReady(k, metav1.ConditionTrue, meta.ReconciliationSucceededReason, "Applied revision: "+revision)
}

// maxReport is where Flux cuts the message of a condition off, as the API bounds it.
const maxReport = 32768

func setReady(k *kustomizev1.Kustomization, status metav1.ConditionStatus, reason, message string) {
	if len(message) > maxReport {
		message = message[:maxReport-3] + "..."
	}
	apimeta.SetStatusCondition(&k.Status.Conditions, metav1.Condition{
		Type: meta.ReadyCondition, Status: status, Reason: reason, Message: message, ObservedGeneration: k.Generation,
	})
}

// operator makes one pass: what it decides is written into the Kustomization and into
// the status, and into nothing else.
func (s *setup) operator() Decision {
	s.t.Helper()
	d := Decide(Facts{Kustomization: s.k, Before: s.status, Confirm: s.confirm})
	s.k.Annotations = map[string]string{}
	if value := d.Grant.Annotation(); value != "" {
		s.k.Annotations[stamp.PruneGrantedAnnotation] = value
	}
	s.status = &gitopsv1.SourceStatus{
		Name: "apps", AppliedRevision: s.k.Status.LastAppliedRevision, Applications: int64(len(applications(s.k))),
		Prune: d.Prune, ConfirmedPrune: d.Confirmed,
	}
	return d
}

// left fails unless so many applications are left, and returns them in order.
func (s *setup) left(count int) {
	s.t.Helper()
	if len(s.cluster) != count {
		s.t.Errorf("%d applications are left, want %d", len(s.cluster), count)
	}
}

// blocked fails unless a decision blocks, for that many of so many.
func (s *setup) blocked(d Decision, pruned, of int64) {
	s.t.Helper()
	if !d.Blocked || d.Grant != nil || d.Ask {
		s.t.Fatalf("not blocked: %+v", d)
	}
	if d.Prune.Applications != pruned || d.Prune.Of != of {
		s.t.Errorf("blocked for %d of %d, want %d of %d", d.Prune.Applications, d.Prune.Of, pruned, of)
	}
}

// granted fails unless a decision grants and asks.
func (s *setup) granted(d Decision) {
	s.t.Helper()
	if !d.Granted || !d.Ask || d.Blocked || d.Grant == nil {
		s.t.Fatalf("not granted: %+v", d)
	}
}

// quiet fails unless nothing is held and nothing stands in the Kustomization.
func (s *setup) quiet(d Decision) {
	s.t.Helper()
	if d.Granted || d.Ask || d.Blocked || d.Grant != nil || d.Prune != nil {
		s.t.Errorf("something is left: %+v", d)
	}
	if strings.Contains(fmt.Sprint(s.k.Annotations), stamp.PruneGrantedAnnotation) {
		s.t.Error("the grant is left in the Kustomization")
	}
}
