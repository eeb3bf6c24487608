package health_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// database is a Postgres whose release fails with a text, unless that is empty. The value
// stays when it is mended: an API that forgets what git has set keeps what git removes.
func database(name, failure string) string {
	return fixtures.Manifest("Postgres", name, map[string]any{"fail": failure, "password": password})
}

// slow is a Postgres whose release is not ready before finish is called.
func slow(name string) string {
	return fixtures.Manifest("Postgres", name, map[string]any{"notReady": true})
}

// password is in the values of releases, and nowhere else may it be read.
const password = "correct-horse-battery"

// newTenant makes a tenant of its own for a test that runs beside others.
func newTenant(t *testing.T, namespace string) string {
	t.Helper()
	t.Parallel()
	return harness.NewTenant(t, cluster.Client, namespace)
}

func newRepository(t *testing.T, name string, files map[string]string) (*gitserver.Repository, string) {
	t.Helper()
	return harness.NewRepository(t, git, name, files)
}

// fromGit is a source that reads a folder of a repository, and tries again soon.
func fromGit(t *testing.T, namespace, name string, repository *gitserver.Repository) gitopsv1.Source {
	t.Helper()
	source := harness.HTTPS(t, cluster.Client, git, namespace, name, repository)
	source.Path = name
	source.Interval = metav1.Duration{Duration: 24 * time.Hour}
	source.RetryInterval = &metav1.Duration{Duration: 10 * time.Second}
	return source
}

// awaitSource waits for the state of one source: parts of its reason or message.
func awaitSource(t *testing.T, namespace, name string, ready metav1.ConditionStatus, parts ...string) gitopsv1.SourceStatus {
	t.Helper()
	var found gitopsv1.SourceStatus
	harness.Await(t, fmt.Sprintf("source %s of %s to be %s with %q", name, namespace, ready, parts), func(ctx context.Context) (bool, string) {
		tenant := &gitopsv1.TenantGitOps{}
		if err := cluster.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: gitopsv1.TenantGitOpsName}, tenant); err != nil {
			return false, err.Error()
		}
		for _, source := range tenant.Status.Sources {
			if source.Name != name {
				continue
			}
			found = source
			text := fmt.Sprintf("%s: %s: %s", source.Ready, source.Reason, source.Message)
			done := tenant.Status.ObservedGeneration == tenant.Generation && source.Ready == ready
			for _, part := range parts {
				done = done && strings.Contains(text, part)
			}
			return done, text
		}
		return false, "no such source in the status"
	})
	return found
}

// awaitUnready waits until a source counts so many applications as not ready.
func awaitUnready(t *testing.T, namespace, name string, want int64) {
	t.Helper()
	harness.Await(t, fmt.Sprintf("%d applications of source %s that are not ready", want, name), func(context.Context) (bool, string) {
		for _, source := range harness.Read(t, cluster.Client, namespace).Status.Sources {
			if source.Name == name {
				return source.Unready == want, fmt.Sprint(source.Unready)
			}
		}
		return false, "no such source in the status"
	})
}

// awaitKustomization waits until a Kustomization's condition has a status and a part of its
// reason or message.
func awaitKustomization(t *testing.T, namespace, source, kind string, status metav1.ConditionStatus, part string) *kustomizev1.Kustomization {
	t.Helper()
	k := &kustomizev1.Kustomization{}
	harness.Await(t, fmt.Sprintf("Kustomization gitops-%s of %s to have %s=%s with %q", source, namespace, kind, status, part), func(ctx context.Context) (bool, string) {
		if err := cluster.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "gitops-" + source}, k); err != nil {
			return false, err.Error()
		}
		condition := apimeta.FindStatusCondition(k.Status.Conditions, kind)
		if condition == nil {
			return false, "no condition"
		}
		text := fmt.Sprintf("%s: %s: %s", condition.Status, condition.Reason, condition.Message)
		return condition.Status == status && strings.Contains(text, part), text
	})
	return k
}

// releaseOf reads the release of a Postgres.
func releaseOf(ctx context.Context, namespace, name string) (*unstructured.Unstructured, error) {
	release := &unstructured.Unstructured{}
	release.SetGroupVersionKind(schema.GroupVersionKind{Group: "helm.toolkit.fluxcd.io", Version: "v2", Kind: "HelmRelease"})
	return release, cluster.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "postgres-" + name}, release)
}

// finish does what nodes would: it reports the Deployment of a slow release as available.
func finish(t *testing.T, namespace, name string) {
	t.Helper()
	harness.Await(t, "the Deployment of "+name, func(ctx context.Context) (bool, string) {
		deployment := &appsv1.Deployment{}
		if err := cluster.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "postgres-" + name + "-not-ready"}, deployment); err != nil {
			return false, err.Error()
		}
		deployment.Status = appsv1.DeploymentStatus{
			ObservedGeneration: deployment.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
			Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable"},
				{Type: appsv1.DeploymentProgressing, Status: corev1.ConditionTrue, Reason: "NewReplicaSetAvailable"},
			},
		}
		err := cluster.Client.Status().Update(ctx, deployment)
		return err == nil, fmt.Sprint(err)
	})
}
