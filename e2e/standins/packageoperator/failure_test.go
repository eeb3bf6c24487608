package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/standins/packageoperator/counts"
)

func TestReleaseThatCannotBeUpdatedIsSaidOfItsPackageOnly(t *testing.T) {
	pkg, release := newInstalled(t, "failing", "{}")
	others, other := newInstalled(t, "faring", "{}")
	webhook := override(t, "failing")
	awaitOverride(t, release, "failing")
	setValues(t, pkg, release, "a", "b")
	webhook.stop(t)
	change(t, pkg, "spec: {components: {failing: {values: {a: c}}}}")
	awaitFailure(t, "failing", "failing", "failing.example.org")
	setValues(t, others, other, "a", "b")
	awaitReady(t, "faring", metav1.ConditionTrue, "ReconciliationSucceeded")
	want(t, read(t, release), map[string]any{"a": "b", "over": "overridden"}, "spec", "values")
	if written := updates(t, release); written.Failed == 0 {
		t.Errorf("updates %+v, want failed ones", written)
	}
	if reconciled := report(t).Packages["failing"]; reconciled.Failed == 0 {
		t.Errorf("reconciliations %+v, want failed ones", reconciled)
	}
	webhook.start(t)
	// It waits longer after each failure, but for a change it does not.
	setValues(t, pkg, release, "a", "d")
	want(t, release, map[string]any{"a": "d", "over": "overridden"}, "spec", "values")
	awaitReady(t, "failing", metav1.ConditionTrue, "ReconciliationSucceeded")
}

func TestReleaseThatCannotBeCreatedHoldsUpThoseAfterIt(t *testing.T) {
	const namespace = "cozy-refused"
	if err := cluster.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		t.Fatal(err)
	}
	port, err := embedded.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	configuration := configure(t, "refused", fmt.Sprintf("https://127.0.0.1:%d", port), nil, func(webhook *admissionregistrationv1.MutatingWebhook) {
		webhook.NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}}
	})
	harness.Await(t, "the webhook to be heeded", func(ctx context.Context) (bool, string) {
		release := releaseNamed(namespace, "tried")
		release.Object["spec"] = map[string]any{"interval": "1h", "chartRef": map[string]any{"kind": "OCIRepository", "name": "tried"}}
		err := cluster.Client.Create(ctx, release, client.DryRunAll)
		return err != nil && strings.Contains(err.Error(), "refused.example.org"), fmt.Sprint(err)
	})
	stray := strayRelease(t, "not-collected", labelled("refused"))
	newSource(t, "refused", `[
{name: before, path: p, install: {namespace: cozy-accepted}},
{name: refused, path: p, install: {namespace: cozy-refused}},
{name: after, path: p, install: {namespace: cozy-accepted}}]`)
	create(t, "Package", "refused", "spec: {}")
	awaitFailure(t, "refused", "refused", "refused.example.org")
	harness.Await(t, "further tries", func(context.Context) (bool, string) {
		tried := report(t).Of(counts.Create, "HelmRelease", namespace, "refused")
		return tried.Failed >= 6, fmt.Sprintf("%+v", tried)
	})
	read(t, releaseNamed("cozy-accepted", "before"))
	if tried := report(t).Of(counts.Create, "HelmRelease", "cozy-accepted", "after"); tried.All() != 0 {
		t.Errorf("the release after it was tried: %+v", tried)
	}
	read(t, stray)
	if err := cluster.Client.Delete(t.Context(), configuration); err != nil {
		t.Fatal(err)
	}
	// Nobody changes anything: it tries again by itself.
	awaitReady(t, "refused", metav1.ConditionTrue, "ReconciliationSucceeded")
	read(t, releaseNamed(namespace, "refused"))
	read(t, releaseNamed("cozy-accepted", "after"))
	harness.AwaitGone(t, cluster.Client, stray)
}
