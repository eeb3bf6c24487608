//go:build kind

package pods_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestBuildThatOutgrowsItsMemoryEndsThatControllerOnly commits a file that cannot be
// parsed within the controller's memory limit, beside a neighbour that goes on.
func TestBuildThatOutgrowsItsMemoryEndsThatControllerOnly(t *testing.T) {
	t.Parallel()
	const greedy, neighbour = "tenant-greedy", "tenant-modest"
	files := map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")}
	greedyRepository, commit := stage.Enable(t, greedy, files, nil)
	modestRepository, modestCommit := stage.Enable(t, neighbour, files, nil)
	harness.AwaitApplied(t, stage.Client, greedy, commit)
	harness.AwaitApplied(t, stage.Client, neighbour, modestCommit)
	before := stage.ControllerPod(t, neighbour)

	// Each of the numbers becomes a node of some hundred bytes.
	numbers := "{numbers: [1" + strings.Repeat(",1", 3_000_000) + "]}"
	huge := strings.Replace(fixtures.Manifest("Redis", "huge", nil), "null", numbers, 1)
	harness.Commit(t, greedyRepository, map[string]string{"huge.yaml": huge})
	harness.Request(t, stage.Client, greedy)
	harness.Await(t, "the status to say that the controller was killed", func(context.Context) (bool, string) {
		status := harness.Read(t, stage.Client, greedy).Status.Controller
		return status != nil && status.Restarts > 0 && strings.Contains(status.LastTermination, "OOMKilled"), fmt.Sprintf("%+v", status)
	})

	modestCommit = harness.Commit(t, modestRepository, map[string]string{"cache.yaml": fixtures.Redis("cache", 1)})
	harness.Request(t, stage.Client, neighbour)
	status := harness.AwaitApplied(t, stage.Client, neighbour, modestCommit).Status.Controller
	after := stage.ControllerPod(t, neighbour)
	if after.UID != before.UID || status.Restarts != 0 || !status.Ready {
		t.Errorf("the neighbour's controller was pod %s, is pod %s: %+v", before.Name, after.Name, status)
	}

	commit = harness.Commit(t, greedyRepository, nil, "huge.yaml")
	harness.Request(t, stage.Client, greedy)
	harness.AwaitApplied(t, stage.Client, greedy, commit)
}
