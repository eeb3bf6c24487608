package helmreleases

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/harness"
)

func newSecret(t *testing.T, namespace, name, key, content string, labels map[string]string) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
		StringData: map[string]string{key: content},
	}
	if err := cluster.Client.Create(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	return secret
}

func TestValuesAreComposed(t *testing.T) {
	namespace := newNamespace(t, "composes")
	newSecret(t, namespace, "first", "values.yaml", "{a: first, map: {k: first, l: first}, list: [1, 2]}", nil)
	newSecret(t, namespace, "second", "values.yaml", "{a: second, map: {k: second}}", nil)
	newSecret(t, namespace, "one", "host", "example.org", nil)
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "third"}, Data: map[string]string{"own": "{b: third}"}}
	if err := cluster.Client.Create(t.Context(), configMap); err != nil {
		t.Fatal(err)
	}
	release := newRelease(t, namespace, "composed", `
valuesFrom:
- {kind: Secret, name: first}
- {kind: Secret, name: second}
- {kind: ConfigMap, name: third, valuesKey: own}
- {kind: Secret, name: missing, optional: true}
- {kind: Secret, name: one, valuesKey: host, targetPath: net.host}
values: {map: {m: own}, list: [3]}
`)
	awaitCondition(t, release, "Ready", "True", "InstallSucceeded")
	got := valuesOf(t, release)
	for key, want := range map[string]any{
		"a": "second", "b": "third", "net": map[string]any{"host": "example.org"}, "list": []any{float64(3)},
		"map": map[string]any{"k": "second", "l": "first", "m": "own"},
	} {
		if !reflect.DeepEqual(got[key], want) {
			t.Errorf("%s is %v, want %v", key, got[key], want)
		}
	}
}

func TestMissingValuesAreNamed(t *testing.T) {
	namespace := newNamespace(t, "misses")
	release := newRelease(t, namespace, "misses", "valuesFrom: [{kind: Secret, name: cozystack-values}]")
	ready := awaitCondition(t, release, "Ready", "False", "ValuesError")
	if !strings.Contains(ready.Message, "could not resolve Secret chart values reference 'misses/cozystack-values'") {
		t.Errorf("message %q", ready.Message)
	}
	newSecret(t, namespace, "cozystack-values", "values.yaml", "{}", map[string]string{"reconcile.fluxcd.io/watch": "Enabled"})
	awaitCondition(t, release, "Ready", "True", "InstallSucceeded")
}

func TestChangeOfAWatchedSecretUpgrades(t *testing.T) {
	namespace := newNamespace(t, "follows")
	watched := newSecret(t, namespace, "watched", "values.yaml", "a: 1", map[string]string{"reconcile.fluxcd.io/watch": "Enabled"})
	release := newRelease(t, namespace, "follows", "valuesFrom: [{kind: Secret, name: watched}]")
	awaitCondition(t, release, "Ready", "True", "InstallSucceeded")
	generation := release.GetGeneration()
	change(t, watched, "stringData: {values.yaml: 'a: 2'}")
	harness.Await(t, "the release to have the Secret's new value", func(ctx context.Context) (bool, string) {
		stored := &corev1.ConfigMap{}
		if err := cluster.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "follows-values"}, stored); err != nil {
			return false, err.Error()
		}
		return strings.Contains(stored.Data["values.yaml"], "a: 2"), fmt.Sprint(stored.Data)
	})
	awaitCondition(t, release, "Ready", "True", "UpgradeSucceeded")
	if release.GetGeneration() != generation {
		t.Error("the HelmRelease itself was changed")
	}
	awaitHistory(t, release, "v2 deployed application@1.0.0;v1 superseded application@1.0.0;")
}
