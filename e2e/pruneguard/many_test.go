package pruneguard_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestThreeHundredAreKeptAndThenDeleted: so many refusals do not fit into what Flux can
// report, so the status counts those that do.
func TestThreeHundredAreKeptAndThenDeleted(t *testing.T) {
	t.Parallel()
	const namespace, count = "tenant-many", 300
	repository, commit := newTenant(t, namespace, manifests("apps", count))
	source := folder(t, namespace, "apps", repository)
	source.Path = "./"
	write(t, namespace, source)
	// They are created one after the other too.
	for created := 50; created <= count; created += 50 {
		harness.Await(t, fmt.Sprintf("%d applications", created), func(context.Context) (bool, string) {
			found := len(applications(t, namespace))
			return found >= created, fmt.Sprint(found)
		})
	}
	awaitApplied(t, namespace, "apps", commit)

	start := time.Now()
	emptied := push(t, namespace, repository, nil, filesOf("apps", 0, count)...)
	// They are tried one after the other: what is awaited is that it goes on.
	for tried := 50; tried <= count; tried += 50 {
		harness.Await(t, fmt.Sprintf("%d deletions to be tried", tried), func(context.Context) (bool, string) {
			seen := map[string]bool{}
			for _, attempt := range attempts(t, namespace, start) {
				seen[attempt.Name] = true
			}
			return len(seen) >= tried, fmt.Sprint(len(seen))
		})
	}
	status := awaitSource(t, namespace, "apps", metav1.ConditionFalse, gitopsv1.ReasonPruneBlocked+": main@sha1:"+emptied+" would delete at least ")
	t.Logf("blocked after %s", time.Since(start).Round(10*time.Millisecond))
	if status.Prune == nil || status.Prune.Of != count || status.Prune.Applications < 100 || status.Prune.Applications >= count || len(status.Prune.Names) != 20 {
		t.Errorf("the status says of the prune %+v", status.Prune)
	}
	// Flux may have begun once more by now.
	refused := map[string]bool{}
	for _, attempt := range attempts(t, namespace, start) {
		if attempt.Code != http.StatusForbidden {
			t.Errorf("deletion of %s was answered %d", attempt.Name, attempt.Code)
		}
		refused[attempt.Name] = true
	}
	if len(refused) != count {
		t.Errorf("%d of %d deletions were refused", len(refused), count)
	}
	start = time.Now()
	confirm(t, namespace, source, "main@sha1:"+emptied)
	for left := count - 50; left >= 0; left -= 50 {
		harness.Await(t, fmt.Sprintf("at most %d applications", left), func(context.Context) (bool, string) {
			found := len(applications(t, namespace))
			return found <= left, fmt.Sprint(found)
		})
	}
	t.Logf("deleted %s after the confirmation", time.Since(start).Round(10*time.Millisecond))
	awaitApplied(t, namespace, "apps", emptied)
	wantNoGrant(t, namespace, "apps")
}
