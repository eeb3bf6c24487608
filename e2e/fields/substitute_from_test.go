package fields_test

import (
	"context"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestSubstituteFrom takes variables from a ConfigMap and a Secret. One that is missing
// is named in the condition, an optional one is done without, and each change takes
// effect though no interval ends.
func TestSubstituteFrom(t *testing.T) {
	namespace := newTenant(t, "tenant-substitutefrom")
	repository, commit := newRepository(t, "acme/substitute-from", map[string]string{
		"app.yaml": fixtures.Manifest("Redis", "app", map[string]any{
			"size": "${size}", "flavour": "${flavour}", "zone": "${zone:=nowhere}",
		}),
	})
	source := fromGit(t, namespace, "apps", repository)
	source.PostBuild = &gitopsv1.PostBuild{SubstituteFrom: []kustomizev1.SubstituteReference{
		{Kind: "ConfigMap", Name: "sizes"},
		{Kind: "Secret", Name: "flavours.gitops"},
		{Kind: "Secret", Name: "zones.gitops", Optional: true},
	}}
	write(t, namespace, source)

	awaitSource(t, namespace, "apps", metav1.ConditionFalse, gitopsv1.ReasonConfigMapNotFound+`: the ConfigMap "sizes"`)
	writeConfigMap(t, namespace, "sizes", map[string]string{"size": "1Gi"})
	awaitSource(t, namespace, "apps", metav1.ConditionFalse, gitopsv1.ReasonSecretNotFound+`: the Secret "flavours.gitops"`)
	harness.WriteSecret(t, cluster.Client, namespace, "flavours.gitops", map[string]string{"flavour": "sweet"})

	awaitSourceApplied(t, namespace, "apps", commit)
	app := application(t, "Redis", namespace, "app")
	wantSpec(t, app, "size", "1Gi")
	wantSpec(t, app, "flavour", "sweet")
	wantSpec(t, app, "zone", "nowhere")

	writeConfigMap(t, namespace, "sizes", map[string]string{"size": "2Gi"})
	awaitSpec(t, "Redis", namespace, "app", "size", "2Gi")
	harness.WriteSecret(t, cluster.Client, namespace, "flavours.gitops", map[string]string{"flavour": "sour"})
	awaitSpec(t, "Redis", namespace, "app", "flavour", "sour")
	harness.WriteSecret(t, cluster.Client, namespace, "zones.gitops", map[string]string{"zone": "north"})
	awaitSpec(t, "Redis", namespace, "app", "zone", "north")
	awaitSourceApplied(t, namespace, "apps", commit)

	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "sizes"}}
	if err := cluster.Client.Delete(t.Context(), configMap); err != nil {
		t.Fatal(err)
	}
	awaitSource(t, namespace, "apps", metav1.ConditionFalse, gitopsv1.ReasonConfigMapNotFound)
}

func writeConfigMap(t *testing.T, namespace, name string, data map[string]string) {
	t.Helper()
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: data}
	err := cluster.Client.Create(t.Context(), configMap)
	if client.IgnoreAlreadyExists(err) == nil && err != nil {
		err = cluster.Client.Update(t.Context(), configMap)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// awaitSpec waits for a field of an application's spec.
func awaitSpec(t *testing.T, kind, namespace, name, field, want string) {
	t.Helper()
	harness.Await(t, kind+" "+name+" with "+field+" "+want, func(ctx context.Context) (bool, string) {
		object := fixtures.Application(kind, namespace, name)
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
			return false, err.Error()
		}
		return specOf(object, field) == want, specOf(object, field)
	})
}
