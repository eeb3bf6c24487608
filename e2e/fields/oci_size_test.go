package fields_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/oversize"
)

// TestOCIArtifactTooLarge pulls an artifact that is too large by a source of the
// TenantGitOps and by one written by hand; another tag gets either going again.
func TestOCIArtifactTooLarge(t *testing.T) {
	namespace := newTenant(t, "tenant-ocisize")
	parameters := &gitopsv1.GitOpsParameters{ObjectMeta: metav1.ObjectMeta{Name: gitopsv1.GitOpsParametersName}}
	setBound := func(ctx context.Context, bound *resource.Quantity) {
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(parameters), parameters); err != nil {
			t.Error(err)
			return
		}
		changed := parameters.DeepCopy()
		changed.Spec.MaxArtifactSize = bound
		if err := cluster.Client.Patch(ctx, changed, client.MergeFrom(parameters)); err != nil {
			t.Error(err)
		}
	}
	bound := resource.MustParse("64Ki")
	setBound(t.Context(), &bound)
	t.Cleanup(func() { setBound(context.Background(), nil) })

	registry := startRegistry(t, "acme-robot", "the-registry-password-1")
	writeRegistrySecrets(t, namespace, registry, "the-registry-password-1")
	content := make([]byte, 200<<10)
	if _, err := rand.Read(content); err != nil {
		t.Fatal(err)
	}
	registry.push(t, "acme/apps", "large", layer{artifactContent, map[string]string{"app.yaml": fixtures.Redis("app", 1), "large.bin": string(content)}})
	slim := registry.push(t, "acme/apps", "slim", layer{artifactContent, map[string]string{"app.yaml": fixtures.Redis("app", 2)}})

	source := fromOCI(registry, "apps", "acme/apps", &sourcev1.OCIRepositoryRef{Tag: "large"})
	write(t, namespace, source)
	awaitSource(t, namespace, "apps", metav1.ConditionFalse, gitopsv1.ReasonArtifactTooLarge)
	raw := &sourcev1.OCIRepository{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "raw"},
		Spec: sourcev1.OCIRepositorySpec{
			URL: registry.address("acme/apps"), Reference: source.OCI.Ref, Interval: day,
			SecretRef: secretRef(registryLogin), CertSecretRef: secretRef(registryAuthority),
		},
	}
	if err := cluster.Client.Create(t.Context(), raw); err != nil {
		t.Fatal(err)
	}
	awaitRaw := func(held bool) {
		t.Helper()
		harness.Await(t, fmt.Sprintf("the OCIRepository with held %t", held), func(ctx context.Context) (bool, string) {
			if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(raw), raw); err != nil {
				return false, err.Error()
			}
			_, annotated := raw.Annotations[oversize.HeldAnnotation]
			return annotated == held && raw.Spec.Suspend == held, fmt.Sprintf("suspended %t, annotations %v", raw.Spec.Suspend, raw.Annotations)
		})
	}
	awaitRaw(true)

	source.OCI.Ref = &sourcev1.OCIRepositoryRef{Tag: "slim"}
	write(t, namespace, source)
	awaitSourceApplied(t, namespace, "apps", slim)
	changed := raw.DeepCopy()
	changed.Spec.Reference.Tag = "slim"
	if err := cluster.Client.Patch(t.Context(), changed, client.MergeFrom(raw)); err != nil {
		t.Fatal(err)
	}
	awaitRaw(false)
}
