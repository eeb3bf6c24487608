package customizer_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// ownAccount is whom the operator acts as.
const ownAccount = "system:serviceaccount:cozy-gitops:gitops-operator"

// TestSteadyCustomizersAreNotWrittenTo: an operator that starts looks at each of them, and one
// that looks again and again does; nothing is written, about those that fail neither. A change is, so the count counts.
func TestSteadyCustomizersAreNotWrittenTo(t *testing.T) {
	stopOperator(t)
	startOperator(t)
	var names []string
	for _, profile := range []gitopsv1.CustomizerProfile{gitopsv1.ProfileCurated, gitopsv1.ProfileOverridesOnly} {
		name := "steady-" + strings.ToLower(string(profile))
		c, _ := newCustomizer(t, name, map[string]string{"a.yaml": packageValues("acme." + name)})
		c.Spec.RBAC.Profile = profile
		if profile == gitopsv1.ProfileCurated {
			c.Spec.RBAC.OwnedNamespaces = []string{"acme-steady"}
		}
		create(t, c)
		awaitState(t, name, metav1.ConditionTrue, gitopsv1.ReasonSucceeded)
		names = append(names, name)
	}
	standing := standingFailures(t)
	stopForNow(t)
	began := time.Now()
	config := harness.Config()
	config.ResyncInterval = time.Second
	looks := newCounter()
	settings := harness.Settings{Wrap: looks.wrap, Adjust: harness.CustomizerOn}
	var err error
	if operator, err = harness.StartWith(t.Context(), cluster, config, settings); err != nil {
		t.Fatal(err)
	}
	operator.AwaitReady(t)
	harness.Await(t, "five resyncs of each, and a look at those that wait to be mended", func(context.Context) (bool, string) {
		seen := looks.seen()
		enough := true
		for _, name := range standing {
			enough = enough && seen[name] >= 1
		}
		for _, name := range names {
			enough = enough && seen[name] >= 5
		}
		return enough, fmt.Sprint(seen)
	})
	ours := func(w embedded.Write) bool {
		return w.Stored() && w.User == ownAccount && (strings.Contains(w.Name, "customizer") || strings.HasPrefix(w.Name, "steady-") || strings.HasPrefix(w.Name, "standing-") || strings.Contains(w.Name, "acme-steady"))
	}
	wrote, err := cluster.Writes(began, ours)
	if err != nil {
		t.Fatal(err)
	}
	if len(wrote) > 0 {
		t.Errorf("the operator wrote %v", wrote)
	}
	change(t, read(t, names[0]), func(spec *gitopsv1.CustomizerSpec) { spec.Suspend = true })
	awaitState(t, names[0], metav1.ConditionTrue, gitopsv1.ReasonSuspended)
	if wrote, err = cluster.Writes(began, ours); err != nil || len(wrote) == 0 {
		t.Errorf("of a change the count says %v, %v", wrote, err)
	}
}

// standingFailures are a Customizer whose repository cannot be fetched and one whose rules
// nobody may grant. Both have said so, more than the second ago that times are told in.
func standingFailures(t *testing.T) []string {
	t.Helper()
	const fetch, rules = "standing-fetch", "standing-rules"
	c, _ := newCustomizer(t, fetch, nil)
	c.Spec.Source.Git.Ref.Branch = "none"
	create(t, c)
	c, _ = newCustomizer(t, rules, nil)
	c.Spec.RBAC.ExtraRules = []gitopsv1.ExtraRule{{APIGroups: []string{"standing.example.org"}, Resources: []string{"things"}, Verbs: []string{"get"}}}
	create(t, c)
	for name, reason := range map[string]string{fetch: "GitOperationFailed", rules: gitopsv1.ReasonRulesNotHeld} {
		failed := awaitState(t, name, metav1.ConditionFalse, reason)
		harness.AwaitAnotherSecond(t, failed.Status.Conditions)
	}
	return []string{fetch, rules}
}
