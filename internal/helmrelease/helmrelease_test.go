package helmrelease

import (
	"encoding/json"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/yaml"

	"github.com/cozystack/gitops-operator/internal/pruneguard"
)

// stored is a HelmRelease as the API server has it, with a password wherever one may be.
const stored = `
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata:
  namespace: tenant-acme
  name: postgres-db
  generation: 3
  resourceVersion: "7"
  labels:
    apps.cozystack.io/application.kind: Postgres
    apps.cozystack.io/application.group: apps.cozystack.io
    apps.cozystack.io/application.name: db
  annotations:
    kubectl.kubernetes.io/last-applied-configuration: '{"spec":{"values":{"password":"hunter2"}}}'
    apps.cozystack.io-kubectl.kubernetes.io/last-applied-configuration: '{"spec":{"password":"hunter2"}}'
    apps.cozystack.io-note: hunter2
    apps.cozystack.io-gitops.cozystack.io/applied: '{"f:spec":{"f:parameters":{"f:hunter2":{}}}}'
  managedFields: [{manager: hunter2}]
  finalizers: [finalizers.fluxcd.io]
spec:
  values: {password: hunter2}
status:
  observedGeneration: 2
  lastHandledReconcileAt: hunter2
  conditions: [{type: Ready, status: "False", reason: UpgradeFailed, message: no room}]
  history: [{chartName: hunter2}]
`

// TestNoPasswordIsCached decodes a HelmRelease as the cache does, and looks for what must
// not be in the operator's memory.
func TestNoPasswordIsCached(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	raw, err := yaml.YAMLToJSON([]byte(stored))
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := runtime.Decode(serializer.NewCodecFactory(scheme).UniversalDeserializer(), raw)
	if err != nil {
		t.Fatal(err)
	}
	for name, object := range map[string]any{"a release": decoded, "one that went unseen": toolscache.DeletedFinalStateUnknown{Obj: decoded}} {
		stripped, err := Strip(object)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(stripped)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "hunter2") {
			t.Errorf("of %s a password is kept: %s", name, text)
		}
		for _, kept := range []string{"application.kind", `"apps.cozystack.io-gitops.cozystack.io/applied":"{}"`, "no room", `"generation":3`, `"observedGeneration":2`, `"resourceVersion":"7"`} {
			if !strings.Contains(string(text), kept) {
				t.Errorf("of %s, %s is lost: %s", name, kept, text)
			}
		}
	}
	if _, err := Strip(&metav1.PartialObjectMetadata{}); err == nil {
		t.Error("another kind was let through as it is")
	}
}

func TestApplicationOfARelease(t *testing.T) {
	labels := func(kind, group, name string) HelmRelease {
		return HelmRelease{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant-acme", Labels: map[string]string{KindLabel: kind, GroupLabel: group, NameLabel: name}}}
	}
	module := labels("Etcd", "apps.cozystack.io", "etcd")
	if application, ok := module.Application(); !ok || application.String() != "Etcd/tenant-acme/etcd" {
		t.Errorf("got %s, %t", application, ok)
	}
	for _, none := range []HelmRelease{{}, labels("Etcd", "example.org", "etcd"), labels("", "apps.cozystack.io", "etcd"), labels("Etcd", "apps.cozystack.io", "")} {
		if application, ok := none.Application(); ok {
			t.Errorf("%v is taken for %s", none.Labels, application)
		}
	}
}

// release is one at generation 3 whose conditions are about generation 3, unless said.
func release(kind, name string, conditions ...metav1.Condition) HelmRelease {
	r := HelmRelease{ObjectMeta: metav1.ObjectMeta{
		Namespace: "tenant-acme", Name: strings.ToLower(kind) + "-" + name, Generation: 3,
		Labels: map[string]string{KindLabel: kind, GroupLabel: "apps.cozystack.io", NameLabel: name},
	}}
	for _, condition := range conditions {
		if condition.ObservedGeneration == 0 {
			condition.ObservedGeneration = 3
		}
		r.Status.Conditions = append(r.Status.Conditions, condition)
	}
	return r
}

func ready(status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: "Ready", Status: status, Reason: reason, Message: message}
}

func TestState(t *testing.T) {
	older := func(condition metav1.Condition) metav1.Condition {
		condition.ObservedGeneration = 2
		return condition
	}
	released := metav1.Condition{Type: "Released", Status: metav1.ConditionFalse, Reason: "InstallFailed", Message: "no room"}
	for _, tc := range []struct {
		name       string
		conditions []metav1.Condition
		want       State
	}{
		{"no condition", nil, State{Phase: Pending}},
		{"on its way", []metav1.Condition{ready(metav1.ConditionUnknown, "Progressing", "running")}, State{Pending, "running"}},
		{"ready", []metav1.Condition{ready(metav1.ConditionTrue, "InstallSucceeded", "fine")}, State{Ready, "fine"}},
		{"ready, of the generation before", []metav1.Condition{older(ready(metav1.ConditionTrue, "InstallSucceeded", "fine"))}, State{Phase: Pending}},
		{"failed", []metav1.Condition{ready(metav1.ConditionFalse, "UpgradeFailed", "no room")}, State{Failed, "no room"}},
		{"failed, and rolled back", []metav1.Condition{ready(metav1.ConditionFalse, "RollbackSucceeded", "back")}, State{Failed, "back"}},
		{"failed, of the generation before", []metav1.Condition{older(ready(metav1.ConditionFalse, "UpgradeFailed", "no room"))}, State{Phase: Pending}},
		{"without its chart", []metav1.Condition{ready(metav1.ConditionFalse, "SourceNotReady", "no chart")}, State{Pending, "no chart"}},
		{"with a chart that is none", []metav1.Condition{ready(metav1.ConditionFalse, "ArtifactFailed", "no chart")}, State{Failed, "no chart"}},
		{"without its values", []metav1.Condition{ready(metav1.ConditionFalse, "ValuesError", "no Secret")}, State{Failed, "no Secret"}},
		{"without its chart, for good", []metav1.Condition{ready(metav1.ConditionFalse, "Other", "no chart"), {Type: "Stalled", Status: metav1.ConditionTrue, Reason: "X", Message: "not shown"}}, State{Failed, "no chart"}},
		{"trying again", []metav1.Condition{ready(metav1.ConditionUnknown, "Progressing", "running"), released}, State{Failed, "no room"}},
		{"trying something else", []metav1.Condition{ready(metav1.ConditionUnknown, "Progressing", "running"), older(released)}, State{Pending, "running"}},
	} {
		r := release("Postgres", "db", tc.conditions...)
		if got := r.State(); got != tc.want {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
	going := release("Postgres", "db", ready(metav1.ConditionTrue, "InstallSucceeded", "fine"))
	going.DeletionTimestamp = new(metav1.Now())
	if got := going.State(); got.Phase != Pending {
		t.Errorf("one that is being deleted is %v", got)
	}
}

func TestHealthOf(t *testing.T) {
	applications := map[pruneguard.Application]bool{
		{Namespace: "tenant-acme", Kind: "Postgres", Name: "db"}:           true,
		{Namespace: "tenant-acme", Kind: "Redis", Name: "cache"}:           true,
		{Namespace: "tenant-acme", Kind: "Etcd", Name: "shop"}:             true,
		{Namespace: "tenant-acme-child", Kind: "Bucket", Name: "files"}:    true,
		{Namespace: "tenant-acme", Kind: "Postgres", Name: "not-released"}: true,
	}
	below := release("Bucket", "files", ready(metav1.ConditionFalse, "InstallFailed", "two\n  lines"))
	below.Namespace = "tenant-acme-child"
	releases := []HelmRelease{
		release("Redis", "cache", ready(metav1.ConditionFalse, "InstallFailed", strings.Repeat("é", maxMessage))),
		release("Etcd", "shop"),
		release("Postgres", "db", ready(metav1.ConditionTrue, "InstallSucceeded", "fine")),
		release("Postgres", "of-another-source", ready(metav1.ConditionFalse, "InstallFailed", "not ours")),
		// A module may be called as another one is.
		release("Monitoring", "shop", ready(metav1.ConditionFalse, "InstallFailed", "not ours")),
		below,
	}
	health := HealthOf(applications, releases, "tenant-acme")
	bounded := "redis cache failed: " + strings.Repeat("é", maxMessage/2) + "…"
	want := Health{
		Unready: 3,
		Failed:  "bucket tenant-acme-child/files failed: two lines; " + bounded,
		Waiting: "bucket tenant-acme-child/files failed: two lines; etcd shop has not reported yet; " + bounded,
	}
	if health != want {
		t.Errorf("got %+v, want %+v", health, want)
	}
	if health := HealthOf(nil, releases, "tenant-acme"); health != (Health{}) {
		t.Errorf("without applications: %+v", health)
	}
}

func TestManyFailuresMakeOneSentence(t *testing.T) {
	applications := map[pruneguard.Application]bool{}
	var releases []HelmRelease
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		applications[pruneguard.Application{Namespace: "tenant-acme", Kind: "Redis", Name: name}] = true
		releases = append(releases, release("Redis", name, ready(metav1.ConditionFalse, "InstallFailed", "no room")))
	}
	health := HealthOf(applications, releases, "tenant-acme")
	if health.Unready != 7 || !strings.HasSuffix(health.Failed, "redis e failed: no room; and 2 more") {
		t.Errorf("got %+v", health)
	}
}
