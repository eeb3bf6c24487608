package packagevalues_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/packages"
)

// webhookName is in the message of what is refused while nobody answers.
const webhookName = "releases.gitops.cozystack.io"

// TestOutageTakesNoOverrideAwayAndStopsNobodyElse stops the operator.
func TestOutageTakesNoOverrideAwayAndStopsNobodyElse(t *testing.T) {
	operator.AwaitReady(t)
	const name, other = "outage", "outage-other"
	// The platform's operator writes them in order, and goes no further than what is refused.
	newComponents(t, name, map[string]string{"a-plain": "{a: 1}", "over": "{a: 1}"})
	newComponents(t, other, map[string]string{"web": "{a: 1}"})
	overrideComponents(t, name, "{over: {values: {b: 2}}}")
	awaitComponent(t, name, "over", "{a: 1, b: 2}")
	awaitState(t, name, "True", "Succeeded")
	stopOperator(t)

	setValues := func(name, component, values string) {
		t.Helper()
		patch(t, object(t, "Package", name, "{}"), "spec: {components: {"+component+": {values: "+values+"}}}")
	}
	setValues(name, "over", "{a: 3}")
	setValues(name, "a-plain", "{a: 3}")
	awaitComponent(t, name, "a-plain", "{a: 3}")
	awaitPackageRefused(t, name)
	wantComponent(t, name, "over", "{a: 1, b: 2}")
	setValues(other, "web", "{a: 4}")
	awaitComponent(t, other, "web", "{a: 4}")
	newComponents(t, "outage-new", map[string]string{"web": "{a: 5}"})
	awaitComponent(t, "outage-new", "web", "{a: 5}")

	over := componentOf(name, "over")
	for what, content := range map[string]string{
		"another interval": "spec: {interval: 7m}", "other values": "spec: {values: {a: 9}}", "a suspension": "spec: {suspend: true}",
		"no label":          "metadata: {labels: {" + packages.OverriddenLabel + ": null}}",
		"another label":     "metadata: {labels: {" + packages.OverriddenLabel + ": 'no'}}",
		"another's package": "metadata: {labels: {" + packages.PackageLabel + ": other}}",
	} {
		err := tryPatch(t.Context(), t, over, content)
		if err == nil || !strings.Contains(err.Error(), webhookName) {
			t.Errorf("%s: %v, want a refusal that names the webhook", what, err)
		}
	}
	for what, content := range map[string]string{
		"a label of others": "metadata: {labels: {example.org/own: x}}", "an annotation": "metadata: {annotations: {example.org/own: x}}",
		"a request to reconcile": "metadata: {annotations: {reconcile.fluxcd.io/requestedAt: now}}",
		"no finalizers":          "metadata: {finalizers: null}", "a finalizer": "metadata: {finalizers: [example.org/held]}",
	} {
		if err := tryPatch(t.Context(), t, over, content); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	status := client.RawPatch("application/merge-patch+json", []byte(`{"status":{"lastAttemptedRevision":"7.0.0"}}`))
	if err := cluster.Client.Status().Patch(t.Context(), over, status); err != nil {
		t.Errorf("a status: %v", err)
	}
	wantComponent(t, name, "over", "{a: 1, b: 2}")

	// PackageValues are written meanwhile, and wait.
	overrideComponents(t, name, "{over: {values: {b: 4}}}")
	overrideComponents(t, other, "{web: {values: {b: 4}}}")

	startOperator(t)
	awaitComponent(t, name, "over", "{a: 3, b: 4}")
	awaitComponent(t, other, "web", "{a: 4, b: 4}")
	patch(t, over, "metadata: {finalizers: null}")
	awaitState(t, name, "True", "Succeeded")
	awaitState(t, other, "True", "Succeeded")
}

// TestReleaseIsDeletedWhileNobodyAnswers: what is made anew has the Package's values until
// the operator is back.
func TestReleaseIsDeletedWhileNobodyAnswers(t *testing.T) {
	operator.AwaitReady(t)
	const name = "outage-deleted"
	newComponents(t, name, map[string]string{"web": "{a: 1}"})
	overrideComponents(t, name, "{web: {values: {b: 2}}}")
	awaitState(t, name, "True", "Succeeded")
	stopOperator(t)
	first := componentOf(name, "web")
	harness.AwaitExists(t, cluster.Client, first)
	if uid := first.GetUID(); uid != "" {
		remove(t, first)
		harness.Await(t, "another release", func(ctx context.Context) (bool, string) {
			err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(first), first)
			return err == nil && first.GetUID() != uid, fmt.Sprint(err)
		})
	}
	wantComponent(t, name, "web", "{a: 1}")
	startOperator(t)
	awaitComponent(t, name, "web", "{a: 1, b: 2}")
	awaitState(t, name, "True", "Succeeded")
}

func tryPatch(ctx context.Context, t *testing.T, o client.Object, content string) error {
	t.Helper()
	return cluster.Client.Patch(ctx, o.DeepCopyObject().(client.Object), mergePatch(t, content))
}

// awaitPackageRefused waits until the platform's operator says that the webhook does not
// let it write a release.
func awaitPackageRefused(t *testing.T, name string) {
	t.Helper()
	harness.Await(t, "Package "+name+" to say that a release is refused", func(ctx context.Context) (bool, string) {
		pkg := object(t, "Package", name, "{}")
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(pkg), pkg); err != nil {
			return false, err.Error()
		}
		said := text(t, pkg.Object["status"])
		return strings.Contains(said, "HelmReleaseFailed") && strings.Contains(said, webhookName), said
	})
}
