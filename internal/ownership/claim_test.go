package ownership

import (
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestClaims goes through reports that tell of a claim, and such as only look like one.
func TestClaims(t *testing.T) {
	claim := Claim{Application: app("cache"), Owner: types.NamespacedName{Namespace: "tenant-above", Name: "gitops-web"}}
	report := `Redis/tenant-acme/cache dry-run failed (Forbidden): admission webhook "applications.gitops.cozystack.io" denied the request: ` + claim.Refusal()
	for _, test := range []struct {
		name    string
		message string
		change  func(*modelSource)
		want    int
	}{
		{name: "a refusal", message: report, want: 1},
		{name: "from a server that says its own words before", message: "error when patching: Internal error occurred: " + report, want: 1},
		{name: "with more after it", message: report + "\nRedis/tenant-acme/other configured\n", want: 1},
		{name: "cut off before the end", message: report[:len(report)-60]},
		{name: "without the webhook's words", message: claim.Refusal()},
		{name: "of itself", message: strings.ReplaceAll(report, "tenant-above/gitops-web", "tenant-acme/gitops-a")},
		{name: "in a namespace that it does not target", message: strings.ReplaceAll(report, "Redis/tenant-acme", "Redis/tenant-victim")},
		{name: "forged many times", message: strings.Repeat(report+"\n", 1000), want: maxClaims},
		{name: "of a spec before", message: report, change: func(s *modelSource) { s.k.Generation++ }},
		{name: "of one that is suspended", message: report, change: func(s *modelSource) { s.k.Spec.Suspend = true }},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newModel(t)
			s := m.sources["a"]
			m.ready(s, metav1.ConditionFalse, meta.ReconciliationFailedReason, test.message)
			if test.change != nil {
				test.change(s)
			}
			got := Claims(s.k)
			if len(got) != test.want {
				t.Fatalf("%d claims, want %d: %v", len(got), test.want, got)
			}
			if test.want > 0 && got[0] != claim {
				t.Errorf("the claim is %v, want %v", got[0], claim)
			}
		})
	}
}
