package packagevalues_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/override"
)

// lanePackage is what the Package of each lane has, lanePlain what its release has of it.
const (
	lanePackage = "{keep: 1, map: {a: 1, b: 2}, list: [1, 2], args: [x], env: [{name: A, value: one}, {name: B, value: two}]}"
	lanePlain   = lanePackage
)

// laneCases are written one after the other, in each lane; the values are those that the
// release has then.
var laneCases = []struct{ what, web, want string }{
	{"maps merge", "{values: {map: {b: 3, c: 4}}}",
		"{keep: 1, map: {a: 1, b: 3, c: 4}, list: [1, 2], args: [x], env: [{name: A, value: one}, {name: B, value: two}]}"},
	{"a path is unset", "{values: {map: {c: 4}}, unset: [map.b]}",
		"{keep: 1, map: {a: 1, b: null, c: 4}, list: [1, 2], args: [x], env: [{name: A, value: one}, {name: B, value: two}]}"},
	{"a list is replaced", "{values: {map: {c: 4}, list: [9]}}",
		"{keep: 1, map: {a: 1, b: 2, c: 4}, list: [9], args: [x], env: [{name: A, value: one}, {name: B, value: two}]}"},
	{"a list is appended to", "{values: {args: [more]}, listMerge: [{path: args, strategy: Append}]}",
		"{keep: 1, map: {a: 1, b: 2}, list: [1, 2], args: [x, more], env: [{name: A, value: one}, {name: B, value: two}]}"},
	{"a list is merged by key", "{values: {env: [{name: B, value: mine}, {name: C, value: three}]}, listMerge: [{path: env, strategy: MergeByKey, key: name}]}",
		"{keep: 1, map: {a: 1, b: 2}, list: [1, 2], args: [x], env: [{name: A, value: one}, {name: B, value: mine}, {name: C, value: three}]}"},
	{"all but one key is taken out", "{values: {keep: 2}}",
		"{keep: 2, map: {a: 1, b: 2}, list: [1, 2], args: [x], env: [{name: A, value: one}, {name: B, value: two}]}"},
}

// laneManifest is a PackageValues as it is in a file.
func laneManifest(name, web string) string {
	return fmt.Sprintf("apiVersion: cozystack.io/v1alpha1\nkind: PackageValues\nmetadata: {name: %s}\nspec: {components: {web: %s}}\n", name, web)
}

// walkLane goes through all cases in one lane. carriesNull says what comes of a null that an
// update adds.
func walkLane(t *testing.T, name string, write func(web string), remove func(), carriesNull bool) {
	t.Helper()
	operator.AwaitReady(t)
	newComponents(t, name, map[string]string{"web": lanePackage})
	step := func(what, web, want string) {
		t.Helper()
		t.Log(what)
		write(web)
		awaitComponent(t, name, "web", want)
		awaitState(t, name, metav1.ConditionTrue, "Succeeded")
		wantComponent(t, name, "web", want)
	}
	for _, c := range laneCases {
		step(c.what, c.web, c.want)
	}
	step("a null by an update", "{values: {keep: null, map: {c: 4}}}", map[bool]string{
		true:  "{keep: null, map: {a: 1, b: 2, c: 4}, list: [1, 2], args: [x], env: [{name: A, value: one}, {name: B, value: two}]}",
		false: "{keep: 1, map: {a: 1, b: 2, c: 4}, list: [1, 2], args: [x], env: [{name: A, value: one}, {name: B, value: two}]}",
	}[carriesNull])
	step("the same by unset", "{values: {map: {c: 4}}, unset: [keep]}",
		"{keep: null, map: {a: 1, b: 2, c: 4}, list: [1, 2], args: [x], env: [{name: A, value: one}, {name: B, value: two}]}")
	remove()
	harness.AwaitGone(t, cluster.Client, object(t, "PackageValues", name, "{}"))
	awaitComponent(t, name, "web", lanePlain)
	harness.Await(t, "nothing to be left", func(ctx context.Context) (bool, string) {
		answer, err := answered(ctx, name, "web")
		seen, readErr := readRaw(ctx, name, "web")
		return err == nil && readErr == nil && answer.Stance == override.Plain && len(seen.ours()) == 0, fmt.Sprint(seen.ours(), err, readErr)
	})
}

// TestLaneOfKubectlApply: client-side apply takes a null in an update for "take the key out".
func TestLaneOfKubectlApply(t *testing.T) {
	t.Parallel()
	const name = "lane-kubectl"
	file := filepath.Join(t.TempDir(), "values.yaml")
	kubectl := func(args ...string) {
		t.Helper()
		if _, err := cluster.Kubectl(t.Context(), args...); err != nil {
			t.Fatal(err)
		}
	}
	walkLane(t, name, func(web string) {
		if err := os.WriteFile(file, []byte(laneManifest(name, web)), 0o600); err != nil {
			t.Fatal(err)
		}
		kubectl("apply", "-f", file)
	}, func() { kubectl("delete", "-f", file) }, false)
}

// TestLaneOfServerSideApply carries a null.
func TestLaneOfServerSideApply(t *testing.T) {
	t.Parallel()
	const name = "lane-apply"
	values := object(t, "PackageValues", name, "{}")
	walkLane(t, name, func(web string) {
		applied := object(t, "PackageValues", name, "spec: {components: {web: "+web+"}}")
		if err := cluster.Client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner("acme"), client.ForceOwnership); err != nil {
			t.Fatal(err)
		}
	}, func() { remove(t, values) }, true)
}

// TestLaneOfFlux is a Kustomization of the platform's own Flux, with nothing of ours but what
// it applies.
func TestLaneOfFlux(t *testing.T) {
	t.Parallel()
	const name, namespace = "lane-flux", "cozy-fluxcd"
	harness.WriteSecret(t, cluster.Client, namespace, name+"-ca", map[string]string{"ca.crt": git.CertificateAuthority})
	repository, _ := harness.NewRepository(t, git, "acme/"+name, map[string]string{"beside.yaml": fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s, namespace: %s}\n", name, namespace)})
	source := fluxObject(t, "source.toolkit.fluxcd.io", "GitRepository", namespace, name, fmt.Sprintf(
		"{url: %q, interval: 1h, ref: {branch: %s}, secretRef: {name: %s-ca}}", repository.HTTPSURL(), gitserver.DefaultBranch, name))
	kustomization := fluxObject(t, "kustomize.toolkit.fluxcd.io", "Kustomization", namespace, name, fmt.Sprintf(
		"{interval: 1h, retryInterval: 5s, prune: true, path: ./, sourceRef: {kind: GitRepository, name: %s}}", name))
	create(t, source)
	create(t, kustomization)
	t.Cleanup(func() {
		for _, o := range []client.Object{kustomization, source} {
			if err := client.IgnoreNotFound(cluster.Client.Delete(context.Background(), o)); err != nil {
				t.Error(err)
			}
		}
	})
	apply := func(commit string) {
		t.Helper()
		patch(t, source, "metadata: {annotations: {"+meta.ReconcileRequestAnnotation+": '"+time.Now().Format(time.RFC3339Nano)+"'}}")
		harness.Await(t, "commit "+commit+" to be applied", func(ctx context.Context) (bool, string) {
			if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(kustomization), kustomization); err != nil {
				return false, err.Error()
			}
			applied, _, err := unstructured.NestedString(kustomization.Object, "status", "lastAppliedRevision")
			return err == nil && strings.HasSuffix(applied, commit), text(t, kustomization.Object["status"])
		})
	}
	walkLane(t, name, func(web string) {
		apply(harness.Commit(t, repository, map[string]string{"values.yaml": laneManifest(name, web)}))
	}, func() { apply(harness.Commit(t, repository, nil, "values.yaml")) }, true)
	left := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	harness.AwaitExists(t, cluster.Client, left)
}

// fluxObject is a source or a Kustomization, from the YAML of its spec.
func fluxObject(t *testing.T, group, kind, namespace, name, spec string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{Object: map[string]any{"spec": fromYAML(t, spec)}}
	o.SetGroupVersionKind(schema.GroupVersionKind{Group: group, Version: "v1", Kind: kind})
	o.SetNamespace(namespace)
	o.SetName(name)
	return o
}
