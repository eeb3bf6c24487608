package harness

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/manifests"
	"github.com/cozystack/gitops-operator/internal/operator"
)

// InstallCustomizer lays in what config/customizer adds to the operator: roles and guards.
func InstallCustomizer(ctx context.Context, c *embedded.Cluster, root string) error {
	return manifests.ApplyPaths(ctx, c.Client, root+"/config/customizer/rbac", root+"/config/customizer/guards")
}

// CustomizerOn switches the admin tier of an operator on.
func CustomizerOn(options *operator.Options) { options.Customizer = true }

// Customizer is one that applies a repository, not made yet. The Secret with the git server's
// authority is to be in cozy-system. It looks at no bootstrap Package.
func Customizer(name string, repository *gitserver.Repository) *gitopsv1.Customizer {
	c := &gitopsv1.Customizer{ObjectMeta: metav1.ObjectMeta{Name: name}}
	c.Spec.Source.Git = &gitopsv1.GitSource{
		URL: repository.HTTPSURL(), Ref: &sourcev1.GitRepositoryRef{Branch: gitserver.DefaultBranch},
		SecretRef: &meta.LocalObjectReference{Name: CASecret}, Interval: metav1.Duration{Duration: 30 * time.Second},
	}
	c.Spec.Kustomization.HealthChecks = &[]meta.NamespacedObjectKindReference{}
	c.Spec.Kustomization.RetryInterval = &metav1.Duration{Duration: 10 * time.Second}
	return c
}

// CreateCustomizer makes a Customizer, and deletes it when the test ends.
func CreateCustomizer(t *testing.T, c client.Client, customizer *gitopsv1.Customizer) {
	t.Helper()
	if err := c.Create(t.Context(), customizer); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Delete(context.Background(), customizer.DeepCopy()); client.IgnoreNotFound(err) != nil {
			t.Error(err)
		}
	})
}

// ReadCustomizer reads a Customizer, which is there.
func ReadCustomizer(t *testing.T, c client.Client, name string) *gitopsv1.Customizer {
	t.Helper()
	stored := &gitopsv1.Customizer{}
	if err := c.Get(t.Context(), client.ObjectKey{Name: name}, stored); err != nil {
		t.Fatal(err)
	}
	return stored
}

// AwaitCustomizer waits until a Customizer is in a state, which is told of its spec as it is, and
// the message holds all parts.
func AwaitCustomizer(t *testing.T, c client.Client, name string, status metav1.ConditionStatus, reason string, parts ...string) *gitopsv1.Customizer {
	t.Helper()
	stored := &gitopsv1.Customizer{}
	Await(t, fmt.Sprintf("Customizer %s to be %s, %s, %q", name, status, reason, parts), func(ctx context.Context) (bool, string) {
		if err := c.Get(ctx, client.ObjectKey{Name: name}, stored); err != nil {
			return false, err.Error()
		}
		ready := apimeta.FindStatusCondition(stored.Status.Conditions, meta.ReadyCondition)
		if ready == nil {
			return false, "no condition"
		}
		is := ready.Status == status && ready.Reason == reason && ready.ObservedGeneration == stored.Generation
		for _, part := range parts {
			is = is && strings.Contains(ready.Message, part)
		}
		return is, fmt.Sprintf("%s: %s: %s", ready.Status, ready.Reason, ready.Message)
	})
	return stored
}

// RequestCustomizer asks for a reconciliation of a Customizer, as `flux reconcile` would.
func RequestCustomizer(t *testing.T, c client.Client, name string) {
	t.Helper()
	stored := ReadCustomizer(t, c, name)
	changed := stored.DeepCopy()
	if changed.Annotations == nil {
		changed.Annotations = map[string]string{}
	}
	changed.Annotations[meta.ReconcileRequestAnnotation] = time.Now().Format(time.RFC3339Nano)
	if err := c.Patch(t.Context(), changed, client.MergeFrom(stored)); err != nil {
		t.Fatal(err)
	}
}
