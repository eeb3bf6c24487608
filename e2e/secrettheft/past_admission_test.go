package secrettheft_test

import (
	"context"
	"fmt"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/attempts"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// mayBeNamed are the fields through which a tenant may name a Secret called *.gitops.
var mayBeNamed = []string{"GitRepository.secretRef", "OCIRepository.secretRef", "OCIRepository.certSecretRef"}

// stealWhatMayBeNamed has the tenant's admin name Secrets that it may, in sources, and
// waits until they were used.
func stealWhatMayBeNamed(t *testing.T, thief *thiefServer, alice client.Client) []attack {
	t.Helper()
	var used []attack
	for i, how := range thefts {
		for _, field := range mayBeNamed {
			if how.field != field {
				continue
			}
			secret := fmt.Sprintf("own-%d.gitops", i)
			one := newAttack(t, thief, how, tenant, secret, secret)
			if err := attempts.Store(t.Context(), alice, one.object); err != nil {
				t.Fatalf("%s: a Secret of the tenant's own: %v", field, err)
			}
			awaitReconciled(t, one.object)
			used = append(used, one)
		}
	}
	return used
}

// stealPastAdmission has an admin write each theft with webhooks and policies gone, and
// says what comes of it.
func stealPastAdmission(t *testing.T, thief *thiefServer) map[string]string {
	t.Helper()
	if err := harness.RemoveWebhooks(t.Context(), cluster, root); err != nil {
		t.Fatal(err)
	}
	if err := harness.RemovePolicies(t.Context(), cluster, root); err != nil {
		t.Fatal(err)
	}
	var attacks []attack
	results := map[string]string{}
	for i, how := range thefts {
		switch {
		case how.kind == "TenantGitOps":
			results[how.field] = "whoever writes it"
			continue
		case how.public:
			results[how.field] = "and without that is not tried: public keys are sent to nobody"
			continue
		}
		secret := fmt.Sprintf("wanted-%d", i)
		one := newAttack(t, thief, how, tenant, secret, secret)
		if how.field == "OCIRepository.serviceAccountName" {
			accountOf(t, one.canary)
		}
		harness.Await(t, "the webhooks to be gone", func(ctx context.Context) (bool, string) {
			err := cluster.Client.Create(ctx, one.object)
			return err == nil, fmt.Sprint(err)
		})
		attacks = append(attacks, one)
	}
	for _, one := range attacks {
		awaitReconciled(t, one.object)
	}
	after := lookEverywhere(t)
	for _, one := range attacks {
		seen := after.show(t, one.canary)
		switch {
		case thief.knows(one.word):
			results[one.field] = "and without that reaches the server"
		case len(seen) > 0:
			results[one.field] = fmt.Sprintf("and without that is seen in %v", seen)
		default:
			results[one.field] = "and without that stays where it is"
		}
		if one.kind == "Kustomization" && results[one.field] != "and without that stays where it is" {
			t.Errorf("%s: the Role of the tenant's controller does not hold: %s", one.field, results[one.field])
		}
	}
	return results
}
