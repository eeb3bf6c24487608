package examples_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/examples"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/manifests"
)

// endpoint is what only the admin has said of the platform, by hand.
const endpoint = "https://192.0.2.10:6443"

// TestAdminExampleIsApplied types what the README of the admin's example says of a cluster, on a
// platform whose bootstrap Package was made by hand: all is there as production has it, that
// Package keeps the rest of its values, and nothing goes with the Customizer. Created again, that
// applies the next commit.
func TestAdminExampleIsApplied(t *testing.T) {
	bootstrapByHand(t)
	pushed := examples.PushAdmin(t, harness.NewGitServer(t), root, examples.Production)
	// The README's Secret does not have the authority of a test's git server.
	pushed.Secrets[0].Name = "tested.gitops"
	pushed.Customizer.Spec.Source.Git.SecretRef.Name = pushed.Secrets[0].Name
	deleteAfter(t, pushed)
	if err := cluster.Client.Create(t.Context(), pushed.Secrets[0]); err != nil {
		t.Fatal(err)
	}
	dir := examples.Copy(t, examples.AdminDir(root))
	content, err := yaml.Marshal(pushed.Customizer)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"acme.agekey": pushed.Secrets[1].StringData["acme.agekey"], "overlays/production/customizer.yaml": string(content),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	examples.Run(t, dir, "applied", map[string]string{"kubectl": examples.Program(t, "kubectl")}, "KUBECONFIG="+cluster.Kubeconfig, "PASSWORD=any")
	awaitApplied(t, pushed.Customizer.Name, pushed.Commit, len(pushed.Wanted))
	wantThere(t, pushed.Wanted)
	wantEndpoint(t, pushed.Wanted[0])

	if err := cluster.Client.Delete(t.Context(), pushed.Customizer.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	harness.AwaitGone(t, cluster.Client, pushed.Customizer.DeepCopy())
	wantThere(t, pushed.Wanted)
	commit := harness.Commit(t, pushed.Repository, map[string]string{"NEWS": "again\n"})
	if err := cluster.Client.Create(t.Context(), pushed.Customizer.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	awaitApplied(t, pushed.Customizer.Name, commit, len(pushed.Wanted))
	wantThere(t, pushed.Wanted)
	wantEndpoint(t, pushed.Wanted[0])
}

// deleteAfter takes all out again when the test has ended: other tests ask whether the API server
// would take it.
func deleteAfter(t *testing.T, pushed *examples.Admin) {
	t.Helper()
	objects := []client.Object{pushed.Customizer.DeepCopy()}
	for _, wanted := range pushed.Wanted {
		objects = append(objects, wanted.Object())
	}
	for _, name := range []string{"tested.gitops", "platform.gitops", "sops.gitops"} {
		objects = append(objects, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: gitopsv1.CustomizerNamespace, Name: name}})
	}
	t.Cleanup(func() {
		for _, object := range objects {
			// The test's own context has ended.
			err := wait.PollUntilContextTimeout(context.Background(), 100*time.Millisecond, harness.Patience, true, func(ctx context.Context) (bool, error) {
				err := cluster.Client.Delete(ctx, object)
				return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
			})
			if err != nil {
				t.Errorf("%T %s has not gone: %v", object, object.GetName(), err)
			}
		}
	})
}

// bootstrapByHand makes the bootstrap Package as an admin does who installs the platform, which
// then is ready.
func bootstrapByHand(t *testing.T) {
	t.Helper()
	objects, err := manifests.Decode([]byte(`
apiVersion: cozystack.io/v1alpha1
kind: Package
metadata: {name: ` + examples.BootstrapPackage + `}
spec:
  variant: isp-full
  components: {platform: {values: {publishing: {host: old.example.org, apiServerEndpoint: "` + endpoint + `"}}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	if err := manifests.ApplyAs(t.Context(), cluster.Client, "kubectl", objects[0]); err != nil {
		t.Fatal(err)
	}
	ready := `{"status":{"conditions":[{"type":"Ready","status":"True","reason":"Reported","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`
	if err := cluster.Client.Status().Patch(t.Context(), objects[0], client.RawPatch(types.MergePatchType, []byte(ready))); err != nil {
		t.Fatal(err)
	}
}

// wantEndpoint says that the bootstrap Package has what it was made with, and is not in git.
func wantEndpoint(t *testing.T, bootstrap examples.Wanted) {
	t.Helper()
	stored := get(t, bootstrap).Object
	kept, _, err := unstructured.NestedString(stored, "spec", "components", "platform", "values", "publishing", "apiServerEndpoint")
	variant, _, _ := unstructured.NestedString(stored, "spec", "variant")
	if err != nil || kept != endpoint || variant != "isp-full" {
		t.Errorf("the bootstrap Package has lost what is not in git: %v: %v", stored["spec"], err)
	}
}

// awaitApplied waits until a Customizer has applied a commit.
func awaitApplied(t *testing.T, name, commit string, objects int) {
	t.Helper()
	customizer := &gitopsv1.Customizer{}
	harness.Await(t, "the Customizer to have applied "+commit, func(ctx context.Context) (bool, string) {
		if err := cluster.Client.Get(ctx, client.ObjectKey{Name: name}, customizer); err != nil {
			return false, err.Error()
		}
		applied := apimeta.IsStatusConditionTrue(customizer.Status.Conditions, "Ready") && strings.HasSuffix(customizer.Status.AppliedRevision, commit)
		return applied, fmt.Sprintf("%+v", customizer.Status)
	})
	if customizer.Status.Objects != int64(objects) {
		t.Errorf("the Customizer has %d objects, want %d", customizer.Status.Objects, objects)
	}
}
