package secrettheft_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cozystack/gitops-operator/e2e/attempts"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

var update = flag.Bool("update", false, "write the golden file anew")

const goldenFile = "testdata/thefts.golden"

// TestNothingIsStolen steals through each field: as the tenant's admin, with all layers
// on; and by an admin's hand, past webhooks and policies, so that the controllers' own
// rights are what stands in the way. What a tenant may name does reach the server, so that
// the test would see it.
func TestNothingIsStolen(t *testing.T) {
	o := harness.WithOperator(t, cluster, harness.Config())
	thief := startThiefServer(t)
	alice, apps := layOut(t, thief)

	refusals := map[string]string{}
	var forbidden []attack
	for i, how := range thefts {
		ofApplication := newAttack(t, thief, how, tenant, fmt.Sprintf("db-credentials-%d", i), fmt.Sprintf("db-credentials-%d", i))
		ofAnother := newAttack(t, thief, how, robbed, fmt.Sprintf("theirs-%d.gitops", i), fmt.Sprintf("../../%s/secrets/theirs-%d.gitops", robbed, i))
		for _, one := range []attack{ofApplication, ofAnother} {
			err := attempts.Store(t.Context(), alice, one.object)
			who := whoRefuses(err)
			switch {
			case one.namespace == tenant:
				refusals[how.field] = who
				if who != "policy" && who != "schema" || !strings.Contains(err.Error(), how.rule()) {
					t.Errorf("%s: a Secret of an application was not refused with a word of %s: %v", how.field, how.rule(), err)
				}
			case err == nil:
				// Its name passes; whoever reads it must not come to another namespace by it.
				awaitReconciled(t, one.object)
			case strings.HasPrefix(who, "error"):
				t.Errorf("%s: %s", how.field, who)
			}
			forbidden = append(forbidden, one)
		}
	}
	allowed := append(stealWhatMayBeNamed(t, thief, alice), useInTenantGitOps(t, thief, apps)...)
	before := lookEverywhere(t)
	for _, one := range forbidden {
		if thief.knows(one.word) {
			t.Errorf("%s: the thief's server was told what is in %s/%s", one.field, one.namespace, one.secret)
		}
		for _, place := range before.show(t, one.canary) {
			t.Errorf("%s: what is in %s/%s is seen in %s", one.field, one.namespace, one.secret, place)
		}
	}
	for _, one := range allowed {
		if !thief.knows(one.word) && len(before.show(t, one.canary)) == 0 {
			t.Errorf("%s: what the tenant may name was seen nowhere, so nothing would be", one.field)
		}
	}

	if err := o.Stop(); err != nil {
		t.Fatal(err)
	}
	compare(t, refusals, stealPastAdmission(t, thief))
}

// compare holds what stands in the way of each theft against what is written down.
func compare(t *testing.T, refusals, past map[string]string) {
	t.Helper()
	var lines []string
	for _, how := range thefts {
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%-52s refused by %-8s %s", how.field, refusals[how.field], past[how.field]), " "))
	}
	slices.Sort(lines)
	got := strings.Join(lines, "\n") + "\n"
	t.Logf("what stands in the way:\n%s", got)
	if *update {
		if err := os.WriteFile(goldenFile, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("another result than in %s", goldenFile)
	}
}
