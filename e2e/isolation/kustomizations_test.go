package isolation_test

import (
	"testing"

	"github.com/cozystack/gitops-operator/e2e/attempts"
)

func TestKustomizationsOfATenant(t *testing.T) {
	const namespace = "tenant-kustomizations"
	tryAll(t, newTenantAdmin(t, namespace), attempts.Kustomization(namespace), attempts.Kustomizations(namespace))
}

func TestGoodKustomizationsPass(t *testing.T) {
	const namespace = "tenant-goodkustomizations"
	passAll(t, newTenantAdmin(t, namespace), attempts.Kustomization(namespace), map[string]attempts.Change{
		"own namespace named": attempts.Field("spec.sourceRef.namespace", namespace),
		"from OCI":            attempts.Field("spec.sourceRef.kind", "OCIRepository"),
		"own target":          attempts.Field("spec.targetNamespace", namespace),
		"own dependsOn":       attempts.Field("spec.dependsOn", []any{map[string]any{"name": "a", "namespace": namespace}, map[string]any{"name": "b"}}),
		"own labels":          attempts.Field("spec.commonMetadata", map[string]any{"labels": map[string]any{"team": "acme"}}),
		"Flux's finalizer":    attempts.WithFinalizer("finalizers.fluxcd.io"),
		"a ConfigMap":         attempts.Field("spec.postBuild", map[string]any{"substituteFrom": []any{map[string]any{"kind": "ConfigMap", "name": "x"}}}),
	})
}
