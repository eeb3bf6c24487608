package isolation_test

import (
	"context"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/attempts"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// useParameters sets fields of the GitOpsParameters for the length of a test, and waits
// until the policies go by them.
func useParameters(t *testing.T, spec map[string]any) {
	t.Helper()
	before := parameters(t)
	changed := before.DeepCopy()
	for key, value := range spec {
		attempts.Set(changed, value, "spec", key)
	}
	if err := cluster.Client.Patch(t.Context(), changed, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		restored := before.DeepCopy()
		restored.SetResourceVersion("")
		restored.SetManagedFields(nil)
		after := &unstructured.Unstructured{}
		after.SetGroupVersionKind(before.GroupVersionKind())
		if err := cluster.Client.Get(context.Background(), client.ObjectKeyFromObject(before), after); err != nil {
			t.Error(err)
			return
		}
		after.Object["spec"] = before.Object["spec"]
		if err := cluster.Client.Update(context.Background(), after); err != nil {
			t.Error(err)
		}
	})
	awaitAllowedHosts(t, changed)
}

func parameters(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(gitopsv1.GroupVersion.WithKind("GitOpsParameters"))
	if err := cluster.Client.Get(t.Context(), client.ObjectKey{Name: gitopsv1.GitOpsParametersName}, o); err != nil {
		t.Fatal(err)
	}
	return o
}

// awaitAllowedHosts waits until 127.0.0.1 is allowed or refused as parameters say.
func awaitAllowedHosts(t *testing.T, parameters *unstructured.Unstructured) {
	t.Helper()
	hosts, _, err := unstructured.NestedStringSlice(parameters.Object, "spec", "allowedHosts")
	if err != nil {
		t.Fatal(err)
	}
	// A person whom the policies hold, and who may write everywhere.
	person := rootTenantAdmin(t)
	harness.Await(t, fmt.Sprintf("the policies to allow the hosts %q", hosts), func(ctx context.Context) (bool, string) {
		probe := attempts.GitRepository("tenant-root")
		probe.SetName("probe")
		attempts.Set(probe, "https://127.0.0.1/apps", "spec", "url")
		err := person.Create(ctx, probe, client.DryRunAll)
		return refused(err) == (len(hosts) == 0), fmt.Sprint(err)
	})
}

// rootTenantAdmin is an admin of the root tenant, which has a TenantGitOps.
func rootTenantAdmin(t *testing.T) client.Client {
	t.Helper()
	stampAccounts(t, "tenant-root")
	return user(t, "root-admin", "tenant-root-admin")
}

func TestAllowedHostsAndSubmodules(t *testing.T) {
	const namespace = "tenant-allowed"
	person := newTenantAdmin(t, namespace)
	useParameters(t, map[string]any{"allowedHosts": []any{"127.0.0.1", "git.acme.internal"}, "allowSubmodules": true})
	passAll(t, person, attempts.GitRepository(namespace), map[string]attempts.Change{
		"an address":     attempts.Field("spec.url", "https://127.0.0.1:8443/apps"),
		"a private name": attempts.Field("spec.url", "https://git.acme.internal/apps"),
		"submodules":     attempts.Field("spec.recurseSubmodules", true),
	})
	tryAll(t, person, attempts.GitRepository(namespace), []attempts.Attempt{
		{Name: "another address", Change: attempts.Field("spec.url", "https://127.0.0.2/apps"), Mend: "ask the platform's admin"},
		{Name: "a host that ends like it", Change: attempts.Field("spec.url", "https://evil.git.acme.internal/apps"), Mend: "ask the platform's admin"},
	})
}

func TestAdminsAreExempt(t *testing.T) {
	const namespace = "tenant-exempt"
	newTenantAdmin(t, namespace)
	bad := attempts.Kustomization(namespace)
	bad.SetLabels(nil)
	if err := cluster.Client.Create(t.Context(), bad, client.DryRunAll); err != nil {
		t.Errorf("an admin of the platform was refused: %v", err)
	}
	source := attempts.GitRepository(namespace)
	attempts.Set(source, "https://10.0.0.1/apps", "spec", "url")
	if err := cluster.Client.Create(t.Context(), source, client.DryRunAll); err != nil {
		t.Errorf("an admin of the platform was refused: %v", err)
	}
}

// TestBoundOfArtifactsIsASize takes what is a size of something, and says the default.
func TestBoundOfArtifactsIsASize(t *testing.T) {
	stored := parameters(t)
	if size, _, err := unstructured.NestedString(stored.Object, "spec", "maxArtifactSize"); err != nil || size != "50Mi" {
		t.Errorf("by default an artifact may have %q, %v", size, err)
	}
	for value, good := range map[any]bool{"1Gi": true, "1500k": true, int64(1000000): true, "0": false, int64(0): false, "-1Mi": false, "lots": false, "": false} {
		changed := stored.DeepCopy()
		attempts.Set(changed, value, "spec", "maxArtifactSize")
		err := cluster.Client.Patch(t.Context(), changed, client.MergeFrom(stored), client.DryRunAll)
		if good != (err == nil) {
			t.Errorf("maxArtifactSize %v: %v", value, err)
		}
	}
}

func TestOneParametersObject(t *testing.T) {
	second := &gitopsv1.GitOpsParameters{ObjectMeta: metav1.ObjectMeta{Name: "second"}}
	if err := cluster.Client.Create(t.Context(), second, client.DryRunAll); err == nil {
		t.Error("a second GitOpsParameters was taken")
	}
}
