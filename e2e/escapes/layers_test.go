package escapes_test

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/attempts"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// switchLayers turns webhooks and policies on or off, and waits until the API server
// goes by it, which it learns of one by one.
func switchLayers(t *testing.T, o *harness.Operator, who []client.Client, tenant string, state admissionState) {
	t.Helper()
	webhooks, policies := harness.RemoveWebhooks, harness.RemovePolicies
	if state.webhooks {
		webhooks = harness.InstallWebhooks
	}
	if state.policies {
		policies = harness.InstallPolicies
	}
	if err := webhooks(t.Context(), cluster, root); err != nil {
		t.Fatal(err)
	}
	if err := policies(t.Context(), cluster, root); err != nil {
		t.Fatal(err)
	}
	if state.webhooks {
		o.AwaitReady(t)
	}
	for _, probe := range probes(tenant) {
		want := probe.answers[state]
		harness.Await(t, fmt.Sprintf("the answer %s to %s with %+v", want, describe(probe.admissionTry), state), func(ctx context.Context) (bool, string) {
			written, err := attempts.Ways[0].Write(ctx, who[0], probe.good, probe.attempt.Change)
			got, _ := answerTo(written, probe.attempt.Change, err)
			return got == want, fmt.Sprintf("%s: %v", got, err)
		})
	}
}

// probe is a write by which is seen that a policy or a webhook is in force.
type probe struct {
	admissionTry
	answers map[admissionState]answer
}

func probes(tenant string) []probe {
	try := func(good *unstructured.Unstructured, change attempts.Change, both, policies, webhooks answer) probe {
		return probe{
			admissionTry{good: good, attempt: attempts.Attempt{Name: "a probe", Change: change}},
			map[admissionState]answer{{true, true}: both, {false, true}: policies, {true, false}: webhooks, {false, false}: passed},
		}
	}
	address := func(scheme string) attempts.Change { return attempts.Field("spec.url", scheme+"://127.0.0.1/apps") }
	return []probe{
		// One that the webhook puts right.
		try(attempts.Kustomization(tenant), attempts.Without("spec.serviceAccountName"), harmless, byPolicy, harmless),
		// Those that only a policy refuses, one for each policy.
		try(attempts.Kustomization(tenant), attempts.Field("spec.targetNamespace", "kube-system"), byPolicy, byPolicy, passed),
		try(attempts.GitRepository(tenant), address("https"), byPolicy, byPolicy, passed),
		try(attempts.GitRepository(tenant), attempts.Field("spec.recurseSubmodules", true), byPolicy, byPolicy, passed),
		try(attempts.OCIRepository(tenant), address("oci"), byPolicy, byPolicy, passed),
		try(attempts.TenantGitOps(tenant), attempts.InGit("url", "https://127.0.0.1/apps"), byPolicy, byPolicy, passed),
		try(attempts.TenantGitOps(tenant), attempts.InSource("targetNamespace", "kube-system"), byPolicy, byPolicy, passed),
	}
}
