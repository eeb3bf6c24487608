package healthcheck

import (
	"slices"
	"testing"

	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// What Flux may take an object for; unknown where an expression cannot be evaluated, after
// which it goes on asking.
const (
	unknown    = "Unknown"
	inProgress = "InProgress"
	current    = "Current"
	failed     = "Failed"
)

// TestExpressions evaluates the expressions as Flux does, over what applications say.
func TestExpressions(t *testing.T) {
	evaluator, err := cel.NewStatusEvaluator(&expressions)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name, object string
		want         string
	}{
		{"no status at all", "metadata: {generation: 1}", unknown},
		{"an empty status, as of a fresh application", "metadata: {}\nstatus: {}", inProgress},
		{"a status without conditions", "metadata: {}\nstatus: {version: '1'}", inProgress},
		{"no condition in the list", "metadata: {}\nstatus: {conditions: []}", inProgress},
		{"another condition alone", "metadata: {}\nstatus: {conditions: [{type: Released, status: 'True'}]}", inProgress},
		{"on its way", "metadata: {}\nstatus: {conditions: [{type: Ready, status: Unknown, reason: Progressing}]}", inProgress},
		{"ready", "metadata: {}\nstatus: {conditions: [{type: Released, status: 'True'}, {type: Ready, status: 'True', reason: InstallSucceeded}]}", current},
		{"ready, beside workloads that are not", "metadata: {}\nstatus: {conditions: [{type: WorkloadsReady, status: 'False'}, {type: Ready, status: 'True'}]}", current},
		{"ready, of a generation that the object does not tell", "metadata: {}\nstatus: {conditions: [{type: Ready, status: 'True', observedGeneration: 3}]}", current},
		{"ready, of this generation", "metadata: {generation: 3}\nstatus: {conditions: [{type: Ready, status: 'True', observedGeneration: 3}]}", current},
		{"ready, of an older generation", "metadata: {generation: 3}\nstatus: {conditions: [{type: Ready, status: 'True', observedGeneration: 2}]}", inProgress},
		{"ready, where the status is of an older generation", "metadata: {generation: 3}\nstatus: {observedGeneration: 2, conditions: [{type: Ready, status: 'True'}]}", inProgress},
		{"ready, and being deleted", "metadata: {deletionTimestamp: '2026-01-01T00:00:00Z'}\nstatus: {conditions: [{type: Ready, status: 'True'}]}", inProgress},
		{"being deleted, without a status", "metadata: {deletionTimestamp: '2026-01-01T00:00:00Z'}", inProgress},
		{"failed, of this generation", "metadata: {generation: 3}\nstatus: {conditions: [{type: Ready, status: 'False', reason: UpgradeFailed, observedGeneration: 3}]}", failed},
		{"failed, of an older generation", "metadata: {generation: 3}\nstatus: {conditions: [{type: Ready, status: 'False', reason: UpgradeFailed, observedGeneration: 2}]}", inProgress},
		{"not ready for want of its chart", "metadata: {}\nstatus: {conditions: [{type: Ready, status: 'False', reason: SourceNotReady}]}", inProgress},
		{"not ready for no reason", "metadata: {}\nstatus: {conditions: [{type: Ready, status: 'False'}]}", inProgress},
		{"stalled", "metadata: {}\nstatus: {conditions: [{type: Ready, status: 'False', reason: Other}, {type: Stalled, status: 'True', reason: RetriesExceeded}]}", failed},
		{"no longer stalled", "metadata: {}\nstatus: {conditions: [{type: Stalled, status: 'False'}, {type: Ready, status: 'True'}]}", current},
		{"conditions that are no list", "metadata: {}\nstatus: {conditions: none}", unknown},
		{"a condition that is none, beside a good one", "metadata: {}\nstatus: {conditions: [{}, {type: Ready, status: 'True'}]}", unknown},
	} {
		t.Run(tc.name, func(t *testing.T) {
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(tc.object), &object.Object); err != nil {
				t.Fatal(err)
			}
			got := unknown
			if result, err := evaluator.Evaluate(t.Context(), asRead(object)); err == nil {
				got = result.Status.String()
			}
			if got != tc.want {
				t.Errorf("Flux takes it for %s, want %s", got, tc.want)
			}
		})
	}
	for _, reason := range FailureReasons {
		object := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{}, "status": map[string]any{
			"conditions": []any{map[string]any{"type": "Ready", "status": "False", "reason": reason}},
		}}}
		if result, err := evaluator.Evaluate(t.Context(), object); err != nil || result.Status != failed {
			t.Errorf("with %s Flux takes it for %v, %v", reason, result, err)
		}
	}
}

// asRead makes whole numbers int64, as the API server's answers are decoded.
func asRead(object *unstructured.Unstructured) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: whole(object.Object).(map[string]any)}
}

func whole(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key := range value {
			value[key] = whole(value[key])
		}
	case []any:
		for i := range value {
			value[i] = whole(value[i])
		}
	case float64:
		return int64(value)
	}
	return value
}

// TestTenantsOwnExpressionsWin: Flux refuses a Kustomization with two entries for one kind
// altogether, so ours must give way by Flux's own rule, and whatever was written.
func TestTenantsOwnExpressionsWin(t *testing.T) {
	check := func(apiVersion, kind string) kustomize.CustomHealthCheck {
		return kustomize.CustomHealthCheck{APIVersion: apiVersion, Kind: kind, HealthCheckExpressions: kustomize.HealthCheckExpressions{Current: "true"}}
	}
	kinds := []string{"Redis", "Bucket", "Postgres", "Redis"}
	for _, tc := range []struct {
		name string
		own  []kustomize.CustomHealthCheck
		want []string
	}{
		{"none of its own", nil, []string{"Bucket", "Postgres", "Redis"}},
		{"one kind", []kustomize.CustomHealthCheck{check(APIVersion, "Postgres")}, []string{"own Postgres", "Bucket", "Redis"}},
		{"a kind in another version", []kustomize.CustomHealthCheck{check("apps.cozystack.io/v1", "Postgres")}, []string{"own Postgres", "Bucket", "Redis"}},
		{"a kind of another group", []kustomize.CustomHealthCheck{check("example.org/v1", "Postgres")}, []string{"own Postgres", "Bucket", "Postgres", "Redis"}},
		{"the whole group", []kustomize.CustomHealthCheck{check(APIVersion, "")}, []string{"own "}},
		{"another whole group", []kustomize.CustomHealthCheck{check("example.org/v1", "")}, []string{"own ", "Bucket", "Postgres", "Redis"}},
		{"no version that can be read", []kustomize.CustomHealthCheck{check("a/b/c", "Postgres")}, []string{"own Postgres", "Bucket", "Postgres", "Redis"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := slices.Clone(tc.own)
			checks := Expressions(kinds, tc.own)
			var got []string
			for _, check := range checks {
				name := check.Kind
				if check.Current == "true" {
					name = "own " + name
				}
				got = append(got, name)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if !slices.Equal(before, tc.own) {
				t.Error("the source's own list was changed")
			}
			if _, err := cel.NewStatusReader(checks); err != nil {
				t.Errorf("Flux refuses them: %v", err)
			}
			if again := Expressions([]string{"Postgres", "Redis", "Bucket"}, tc.own); !slices.Equal(again, checks) {
				t.Error("the order of kinds matters")
			}
		})
	}
}

// TestMessageOfAnObjectWithoutStatusIsReadable takes the message from Flux's own error.
func TestMessageOfAnObjectWithoutStatusIsReadable(t *testing.T) {
	evaluator, err := cel.NewStatusEvaluator(&expressions)
	if err != nil {
		t.Fatal(err)
	}
	_, err = evaluator.Evaluate(t.Context(), &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{}}})
	if err == nil {
		t.Fatal("no error without a status")
	}
	got := Readable("timeout waiting for: [Postgres/tenant-acme/db status: 'Unknown': " + err.Error() + "]")
	if want := "timeout waiting for: [Postgres/tenant-acme/db status: 'Unknown' (it has no status yet)]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
