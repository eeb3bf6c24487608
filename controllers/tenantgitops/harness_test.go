package tenantgitops_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	apimeta "k8s.io/apimachinery/pkg/api/meta"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/controllers/tenantgitops"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/internal/operator"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

// patience bounds every wait of the tests; none of them takes near as long.
const patience = 90 * time.Second

// testConfig is the operator's configuration in the tests, quicker than in life.
func testConfig() tenantgitops.Config {
	return tenantgitops.Config{
		Stamp: stamp.Config{
			ControllersNamespace: "cozy-gitops-tenants",
			OperatorNamespace:    "cozy-gitops",
			OperatorAccount:      "gitops-operator",
			Controller: stamp.ControllerConfig{
				Image: "fluxcd/kustomize-controller:v1.9.6",
				Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{
					corev1.ResourceMemory: resource.MustParse("512Mi"),
				}},
			},
		},
		FluxNamespace:  "cozy-fluxcd",
		DNSNamespace:   "kube-system",
		DNSPodLabels:   map[string]string{"k8s-app": "kube-dns"},
		RolloutBatch:   2,
		FinalizerGrace: 3 * time.Second,
		ResyncInterval: 10 * time.Minute,
		PlatformTTL:    time.Second,
		Concurrency:    4,
	}
}

// runningOperator is an operator in this process, with its own service account.
type runningOperator struct {
	cancel context.CancelFunc
	done   chan error
}

// startOperator starts an operator. Each wrapper sees its requests.
func startOperator(ctx context.Context, config tenantgitops.Config, wrap func(*rest.Config)) (*runningOperator, error) {
	restConfig, err := cluster.ServiceAccountConfig(ctx, config.Stamp.OperatorNamespace, config.Stamp.OperatorAccount)
	if err != nil {
		return nil, err
	}
	if wrap != nil {
		wrap(restConfig)
	}
	mgr, err := operator.New(restConfig, operator.Options{
		TenantGitOps: config, MetricsAddress: "0", HealthAddress: "0", AllowSameName: true,
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	o := &runningOperator{cancel: cancel, done: make(chan error, 1)}
	go func() { o.done <- mgr.Start(ctx) }()
	return o, nil
}

func (o *runningOperator) stop() error {
	o.cancel()
	select {
	case err := <-o.done:
		return err
	case <-time.After(patience):
		return errors.New("the operator did not stop")
	}
}

// withOperator runs an operator for the length of a test.
func withOperator(t *testing.T, config tenantgitops.Config) {
	t.Helper()
	o, err := startOperator(t.Context(), config, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.stop(); err != nil {
			t.Errorf("the operator ended with %v", err)
		}
	})
}

// newTenant makes a tenant, with its ancestors.
func newTenant(t *testing.T, namespace string) string {
	t.Helper()
	if err := fixtures.CreateTenant(t.Context(), cluster.Client, namespace); err != nil {
		t.Fatal(err)
	}
	return namespace
}

// write creates a TenantGitOps, or replaces the spec of the one that is there.
func write(t *testing.T, namespace string, sources ...gitopsv1.Source) {
	t.Helper()
	tenant := &gitopsv1.TenantGitOps{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "gitops"}}
	err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(tenant), tenant)
	switch {
	case err == nil:
		changed := tenant.DeepCopy()
		changed.Spec.Sources = sources
		err = cluster.Client.Patch(t.Context(), changed, client.MergeFrom(tenant))
	case client.IgnoreNotFound(err) == nil:
		tenant.Spec.Sources = sources
		err = cluster.Client.Create(t.Context(), tenant)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// read returns the TenantGitOps of a namespace.
func read(t *testing.T, namespace string) *gitopsv1.TenantGitOps {
	t.Helper()
	tenant := &gitopsv1.TenantGitOps{}
	if err := cluster.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "gitops"}, tenant); err != nil {
		t.Fatal(err)
	}
	return tenant
}

// await polls until done, and fails with what the last look saw.
func await(t *testing.T, what string, look func(context.Context) (done bool, seen string)) {
	t.Helper()
	var seen string
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		var done bool
		done, seen = look(ctx)
		return done, nil
	})
	if err != nil {
		t.Fatalf("waited in vain for %s; last seen: %s", what, seen)
	}
}

// awaitCondition waits for the Ready condition's status and a part of its reason
// or message.
func awaitCondition(t *testing.T, namespace string, status metav1.ConditionStatus, part string) *gitopsv1.TenantGitOps {
	t.Helper()
	tenant := &gitopsv1.TenantGitOps{}
	await(t, fmt.Sprintf("Ready=%s with %q in %s", status, part, namespace), func(ctx context.Context) (bool, string) {
		if err := cluster.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "gitops"}, tenant); err != nil {
			return false, err.Error()
		}
		ready := apimeta.FindStatusCondition(tenant.Status.Conditions, "Ready")
		if ready == nil {
			return false, "no condition"
		}
		text := fmt.Sprintf("%s: %s: %s", ready.Status, ready.Reason, ready.Message)
		return ready.Status == status && ready.ObservedGeneration == tenant.Generation && strings.Contains(text, part), text
	})
	return tenant
}

// awaitGone waits until an object does not exist.
func awaitGone(t *testing.T, obj client.Object) {
	t.Helper()
	await(t, fmt.Sprintf("the end of %T %s", obj, client.ObjectKeyFromObject(obj)), func(ctx context.Context) (bool, string) {
		err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(obj), obj)
		if err == nil {
			return false, fmt.Sprintf("it is there, finalizers %v, deleted at %v", obj.GetFinalizers(), obj.GetDeletionTimestamp())
		}
		return client.IgnoreNotFound(err) == nil, err.Error()
	})
}
