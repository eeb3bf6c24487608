package examples_test

import (
	"os/exec"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/examples"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/manifests"
)

// TestAdminExampleIsAccepted: an API server takes all that the overlays come to, decrypted, and
// would store what is wanted. It is asked only, since a StorageClass cannot be both's.
func TestAdminExampleIsAccepted(t *testing.T) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: examples.OwnedNamespace}}
	if err := manifests.Apply(t.Context(), cluster.Client, namespace); err != nil {
		t.Fatal(err)
	}
	strict := client.WithFieldValidation(cluster.Client, metav1.FieldValidationStrict)
	for _, environment := range examples.Environments {
		t.Run(environment, func(t *testing.T) {
			dir := decrypted(t)
			all := examples.AdminWanted(environment)
			for _, object := range examples.Build(t, dir, environment) {
				key := client.ObjectKeyFromObject(object)
				//nolint:staticcheck // SA1019: as manifests.Apply does.
				if err := strict.Patch(t.Context(), object, client.Apply, client.FieldOwner("example"), client.DryRunAll); err != nil {
					t.Errorf("%s %s is refused: %v", object.GetKind(), key, err)
					continue
				}
				for i, wanted := range all {
					if wanted.Kind != object.GetKind() || wanted.Name != object.GetName() || wanted.Namespace != object.GetNamespace() {
						continue
					}
					for _, difference := range wanted.Differences(object) {
						t.Error(difference)
					}
					all[i] = examples.Wanted{}
				}
			}
			for _, wanted := range all {
				if wanted.Kind != "" {
					t.Errorf("the overlay has no %s", wanted)
				}
			}
		})
	}
}

// TestAdminExampleOnAGitServer pushes it: with its Customizer and the Secrets that this names an
// API server takes what is needed to apply it.
func TestAdminExampleOnAGitServer(t *testing.T) {
	server := harness.NewGitServer(t)
	for _, environment := range examples.Environments {
		pushed := examples.PushAdmin(t, server, root, environment)
		objects := []client.Object{examples.AdminCustomizer(t, root, environment), pushed.Customizer}
		for _, secret := range pushed.Secrets {
			objects = append(objects, secret)
		}
		for _, object := range objects {
			if err := client.WithFieldValidation(cluster.Client, metav1.FieldValidationStrict).Create(t.Context(), object, client.DryRunAll); err != nil {
				t.Errorf("%s: %T %s is refused: %v", environment, object, object.GetName(), err)
			}
		}
		if head, err := pushed.Repository.Head(); err != nil || head != pushed.Commit {
			t.Errorf("%s: the head is %s, want %s: %v", environment, head, pushed.Commit, err)
		}
	}
}

// decrypted is a copy of the admin's repository without its cipher.
func decrypted(t *testing.T) string {
	t.Helper()
	dir := examples.Copy(t, examples.AdminDir(root))
	identity, err := filepath.Abs(examples.IdentityFile(root))
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), examples.Program(t, "sops"), "decrypt", "--in-place", filepath.Join("secrets", "pager.yaml"))
	command.Dir, command.Env = dir, []string{"HOME=" + dir, "SOPS_AGE_KEY_FILE=" + identity}
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("cannot decrypt: %v: %s", err, output)
	}
	return dir
}
