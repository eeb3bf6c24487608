package tenantgitops_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

// images returns the image of each tenant's controller of a prefix, and those
// that are ready.
func images(ctx context.Context, prefix string) (map[string]string, map[string]bool, error) {
	var deployments appsv1.DeploymentList
	if err := cluster.Client.List(ctx, &deployments, client.InNamespace("cozy-gitops-tenants"), client.HasLabels{stamp.TenantLabel}); err != nil {
		return nil, nil, err
	}
	image, ready := map[string]string{}, map[string]bool{}
	for _, d := range deployments.Items {
		tenant := d.Labels[stamp.TenantLabel]
		if strings.HasPrefix(tenant, prefix) {
			image[tenant] = d.Spec.Template.Spec.Containers[0].Image
			ready[tenant] = d.Status.ObservedGeneration >= d.Generation && d.Status.ReadyReplicas > 0
		}
	}
	return image, ready, nil
}

// TestImageRollsInWavesAndHaltsAtTheFirstBrokenOne enables six tenants with a
// batch of two (their names sort before all others), rolls a broken image, and puts a good one in its place.
func TestImageRollsInWavesAndHaltsAtTheFirstBrokenOne(t *testing.T) {
	const prefix = "tenant-aaawave"
	config := harness.Config()
	first := harness.WithOperator(t, cluster, config)
	git := harness.NewGitServer(t)
	var tenants []string
	for i := range 6 {
		namespace := harness.NewTenant(t, cluster.Client, fmt.Sprintf("%s%d", prefix, i))
		repository, commit := harness.NewRepository(t, git, namespace, map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")})
		harness.Write(t, cluster.Client, namespace, harness.HTTPS(t, cluster.Client, git, namespace, "apps", repository))
		harness.AwaitApplied(t, cluster.Client, namespace, commit)
		tenants = append(tenants, namespace)
	}
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}

	broken := config
	broken.Stamp.Controller.Image = missingImage
	second := harness.WithOperator(t, cluster, broken)
	var halted []string
	harness.Await(t, "the first wave to take the broken image, and an event to name it", func(ctx context.Context) (bool, string) {
		image, _, err := images(ctx, prefix)
		if err != nil {
			return false, err.Error()
		}
		halted = nil
		for tenant, name := range image {
			if name == missingImage {
				halted = append(halted, tenant)
			}
		}
		slices.Sort(halted)
		named, err := haltNames(ctx, halted)
		return err == nil && len(halted) == 2 && named, fmt.Sprintf("%v, named %v, %v", halted, named, err)
	})
	if want := tenants[:2]; !slices.Equal(halted, want) {
		t.Errorf("the broken image is at %v, want %v", halted, want)
	}
	// Everybody is looked at once more: nobody else may take it.
	for _, tenant := range tenants {
		harness.Request(t, cluster.Client, tenant)
	}
	for _, tenant := range tenants {
		harness.Await(t, "the request to be handled", func(context.Context) (bool, string) {
			read := harness.Read(t, cluster.Client, tenant)
			return read.Status.LastHandledReconcileAt == read.Annotations["reconcile.fluxcd.io/requestedAt"], read.Status.LastHandledReconcileAt
		})
	}
	image, ready, err := images(t.Context(), prefix)
	if err != nil {
		t.Fatal(err)
	}
	for _, tenant := range tenants[2:] {
		if image[tenant] != harness.ControllerImage || !ready[tenant] {
			t.Errorf("%s has image %s, ready %v: the rollout did not halt", tenant, image[tenant], ready[tenant])
		}
	}
	if err := second.Stop(); err != nil {
		t.Fatal(err)
	}

	// A good image, another than the first, goes all the way.
	good := config
	good.Stamp.Controller.Image = "fluxcd/kustomize-controller:v1.9.6-next"
	harness.WithOperator(t, cluster, good)
	harness.Await(t, "all controllers to run the good image", func(ctx context.Context) (bool, string) {
		image, ready, err := images(ctx, prefix)
		all := err == nil && len(image) == 6
		for _, tenant := range tenants {
			all = all && image[tenant] == good.Stamp.Controller.Image && ready[tenant]
		}
		return all, fmt.Sprintf("%v, ready %v, %v", image, ready, err)
	})
	// A controller that only starts holds nobody up.
	if named, err := haltNames(t.Context(), tenants[2:]); err != nil || named {
		t.Errorf("an event says that a good image halted: %t, %v", named, err)
	}
}

// TestControllerThatFailedBeforeHoldsNobodyUp breaks the controller of the first
// tenant by name before the roll-out begins, as a tenant could whose repository
// outgrows its memory.
func TestControllerThatFailedBeforeHoldsNobodyUp(t *testing.T) {
	const prefix = "tenant-aaaabroken"
	config := harness.Config()
	config.RolloutBatch = 1
	first := harness.WithOperator(t, cluster, config)
	git := harness.NewGitServer(t)
	for i := range 2 {
		namespace := harness.NewTenant(t, cluster.Client, fmt.Sprintf("%s%d", prefix, i))
		repository, commit := harness.NewRepository(t, git, namespace, map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")})
		harness.Write(t, cluster.Client, namespace, harness.HTTPS(t, cluster.Client, git, namespace, "apps", repository))
		harness.AwaitApplied(t, cluster.Client, namespace, commit)
	}
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	// Nobody repairs it now: the operator is down.
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "cozy-gitops-tenants", Name: "kustomize-controller-" + prefix + "0"}}
	if !exists(t, deployment) {
		t.Fatal("the controller is not there")
	}
	broken := deployment.DeepCopy()
	broken.Spec.Template.Spec.Containers[0].Image = missingImage
	if err := cluster.Client.Patch(t.Context(), broken, client.MergeFrom(deployment)); err != nil {
		t.Fatal(err)
	}
	harness.Await(t, "the controller to be broken", func(ctx context.Context) (bool, string) {
		_, ready, err := images(ctx, prefix)
		return err == nil && !ready[prefix+"0"], fmt.Sprint(ready, err)
	})

	next := config
	next.Stamp.Controller.Image = missingImage + "-next"
	harness.WithOperator(t, cluster, next)
	harness.Await(t, "the second tenant to take the new image", func(ctx context.Context) (bool, string) {
		image, _, err := images(ctx, prefix)
		return err == nil && image[prefix+"1"] == next.Stamp.Controller.Image, fmt.Sprint(image, err)
	})
}

// haltNames says whether an event on a controller of one of the tenants tells of
// the halt.
func haltNames(ctx context.Context, tenants []string) (bool, error) {
	var list eventsv1.EventList
	if err := cluster.Client.List(ctx, &list, client.InNamespace("cozy-gitops-tenants")); err != nil {
		return false, err
	}
	for _, e := range list.Items {
		if e.Reason != "RolloutHalted" {
			continue
		}
		for _, tenant := range tenants {
			if strings.Contains(e.Note, tenant) {
				return true, nil
			}
		}
	}
	return false, nil
}
