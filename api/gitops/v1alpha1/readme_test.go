package v1alpha1_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/override"
)

// TestReadmeExampleIsAccepted applies the TenantGitOps of the README.
func TestReadmeExampleIsAccepted(t *testing.T) {
	// Another test has the namespace of the example.
	namespace := createNamespace(t, "tenant-readme")
	if err := applyStrictly(t, strings.ReplaceAll(readmeBlock(t, "accepted"), "tenant-acme", namespace)); err != nil {
		t.Errorf("the README's example is refused: %v", err)
	}
}

// TestCustomizerExamplesAreAccepted applies that of the README, and the sample.
func TestCustomizerExamplesAreAccepted(t *testing.T) {
	sample, err := os.ReadFile("../../../config/samples/customizer.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for what, manifest := range map[string]string{"the README's": readmeBlock(t, "customizer"), "the sample": string(sample)} {
		if err := applyStrictly(t, manifest); err != nil {
			t.Errorf("%s is refused: %v", what, err)
		}
	}
}

// TestPackageValuesExamplesAreAccepted applies that of the README, and the sample.
func TestPackageValuesExamplesAreAccepted(t *testing.T) {
	sample, err := os.ReadFile("../../../config/samples/packagevalues.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for what, manifest := range map[string]string{"the README's": readmeBlock(t, "package values"), "the sample": string(sample)} {
		if err := applyStrictly(t, manifest); err != nil {
			t.Errorf("%s is refused: %v", what, err)
			continue
		}
		values := &cozyv1.PackageValues{}
		if err := cluster.Client.Get(t.Context(), client.ObjectKey{Name: "cozystack.monitoring"}, values); err != nil {
			t.Fatal(err)
		}
		// What the webhook says, which does not answer here.
		if err := override.Validate(values.Spec); err != nil {
			t.Errorf("%s cannot be merged: %v", what, err)
		}
	}
}

// TestOneTeamHasOnePackageValues tries the role of docs/security.md as somebody who has it.
func TestOneTeamHasOnePackageValues(t *testing.T) {
	role := &rbacv1.ClusterRole{}
	if err := yaml.Unmarshal([]byte(block(t, "../../../docs/security.md", "one team")), role); err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.GroupKind, APIGroup: rbacv1.GroupName, Name: "acme-team"}},
	}
	for _, object := range []client.Object{role, binding} {
		if err := cluster.Client.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		verb, resource, name string
		want                 bool
	}{
		{"get", "packagevalues", "cozystack.monitoring", true},
		{"update", "packagevalues", "cozystack.monitoring", true},
		{"patch", "packagevalues", "cozystack.monitoring", true},
		{"delete", "packagevalues", "cozystack.monitoring", false},
		{"create", "packagevalues", "", false},
		{"list", "packagevalues", "", false},
		{"get", "packagevalues", "cozystack.networking", false},
		{"patch", "packagevalues", "cozystack.networking", false},
		{"get", "packages", "cozystack.monitoring", false},
		{"patch", "packages", "cozystack.monitoring", false},
	} {
		ask := func() *authorizationv1.SubjectAccessReview {
			return &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
				User: "ada", Groups: []string{"acme-team"},
				ResourceAttributes: &authorizationv1.ResourceAttributes{Group: "cozystack.io", Resource: c.resource, Verb: c.verb, Name: c.name},
			}}
		}
		harness.Await(t, fmt.Sprintf("%s of %s %q to be allowed: %t", c.verb, c.resource, c.name, c.want), func(ctx context.Context) (bool, string) {
			review := ask()
			err := cluster.Client.Create(ctx, review)
			return err == nil && review.Status.Allowed == c.want, fmt.Sprint(review.Status, err)
		})
	}
}

// TestReadmeInstallation renders the operator with the README's kustomization.yaml, in
// a folder beside config, and has the API server look at every object.
func TestReadmeInstallation(t *testing.T) {
	config, err := filepath.Abs("../../../config")
	if err != nil {
		t.Fatal(err)
	}
	tree := t.TempDir()
	if err := os.CopyFS(filepath.Join(tree, "config"), os.DirFS(config)); err != nil {
		t.Fatal(err)
	}
	install := filepath.Join(tree, "install")
	if err := os.Mkdir(install, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(install, "kustomization.yaml"), []byte(readmeBlock(t, "overlay")), 0o644); err != nil {
		t.Fatal(err)
	}
	rendered, err := cluster.Kubectl(t.Context(), "kustomize", install)
	if err != nil {
		t.Fatal(err)
	}
	const image = "image: registry.example.org/acme/gitops-operator:v0.1.0"
	if named := strings.Count(rendered, " image: "); named == 0 || named != strings.Count(rendered, image) {
		t.Errorf("the rendered Deployments do not have %q alone:\n%s", image, rendered)
	}
	for _, namespace := range []string{"cozy-fluxcd", "cozy-gitops", "cozy-gitops-tenants"} {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
		if err := cluster.Client.Create(context.Background(), ns); err != nil {
			t.Fatal(err)
		}
	}
	if output, err := cluster.Kubectl(t.Context(), "apply", "--server-side", "--dry-run=server", "--force-conflicts", "-k", install); err != nil {
		t.Errorf("the API server refuses the installation: %v\n%s", err, output)
	}
}

// readmeBlock returns the YAML below a marker "<!-- test: name -->" of the README.
func readmeBlock(t *testing.T, name string) string {
	t.Helper()
	return block(t, "../../../README.md", name)
}

// block returns the YAML below such a marker.
func block(t *testing.T, path, name string) string {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(string(page), "<!-- test: "+name+" -->\n```yaml\n")
	text, _, closed := strings.Cut(after, "\n```")
	if !found || !closed {
		t.Fatalf("%s has no block marked %q", path, name)
	}
	return text
}
