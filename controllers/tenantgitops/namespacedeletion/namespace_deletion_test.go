package namespacedeletion_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// namespaceLimit is how long a tenant's namespace may take to go.
const namespaceLimit = 2 * time.Minute

// TestDeletedNamespaceTerminates deletes the namespaces of twenty enabled tenants
// for each case: with a healthy controller, with one whose image is missing, and
// with deletionPolicy Delete. A namespace that has hung once in twenty would hang
// for somebody every day.
func TestDeletedNamespaceTerminates(t *testing.T) {
	const tenants = 20
	for _, tc := range []struct {
		name   string
		image  string
		policy string
	}{
		{"healthy", harness.ControllerImage, "Orphan"},
		{"imageless", missingImage, "Orphan"},
		{"deleting", harness.ControllerImage, "Delete"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			git := harness.NewGitServer(t)
			var namespaces []string
			for i := range tenants {
				namespaces = append(namespaces, fmt.Sprintf("tenant-end%s%d", tc.name, i))
			}
			deleteNamespaces(t, git, namespaces, tc.image, tc.policy)
		})
	}
}

// deleteNamespaces enables tenants, deletes their namespaces together and waits
// until nothing of them is left.
func deleteNamespaces(t *testing.T, git *gitserver.Server, namespaces []string, image, policy string) {
	t.Helper()
	// A controller that never ran has put no finalizer on, and then there is
	// nothing to be rescued: first a good one applies.
	o, err := harness.Start(t.Context(), cluster, harness.Config(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := o.Stop(); err != nil {
			t.Errorf("the operator ended with %v", err)
		}
	}()
	commits := map[string]string{}
	for _, namespace := range namespaces {
		tenant := harness.NewTenant(t, cluster.Client, namespace)
		repository, commit := harness.NewRepository(t, git, namespace, map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")})
		source := harness.HTTPS(t, cluster.Client, git, tenant, "apps", repository)
		source.DeletionPolicy = policy
		harness.Write(t, cluster.Client, tenant, source)
		commits[namespace] = commit
	}
	for _, namespace := range namespaces {
		harness.AwaitApplied(t, cluster.Client, namespace, commits[namespace])
	}
	if image != harness.ControllerImage {
		if err := o.Stop(); err != nil {
			t.Fatal(err)
		}
		config := harness.Config()
		config.Stamp.Controller.Image = image
		// All at once: the first wave would hold the others up, as it should.
		config.RolloutBatch = 1000
		if o, err = harness.Start(t.Context(), cluster, config, nil); err != nil {
			t.Fatal(err)
		}
		for _, namespace := range namespaces {
			harness.AwaitCondition(t, cluster.Client, namespace, metav1.ConditionFalse, "ImagePull")
		}
	}
	began := time.Now()
	for _, namespace := range namespaces {
		if err := cluster.Client.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
			t.Fatal(err)
		}
	}
	for _, namespace := range namespaces {
		harness.AwaitGone(t, cluster.Client, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	}
	took := time.Since(began)
	t.Logf("%d namespaces gone after %s", len(namespaces), took.Round(100*time.Millisecond))
	if took > namespaceLimit {
		t.Errorf("the namespaces took %s to go", took)
	}
	for _, namespace := range namespaces {
		harness.Await(t, "nothing of "+namespace+" to be left", func(context.Context) (bool, string) {
			left := harness.Leftovers(t, cluster.Client, namespace)
			return len(left) == 0, strings.Join(left, ", ")
		})
	}
}
