package customizer_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/customizer"
)

var update = flag.Bool("update", false, "write the golden files anew")

// profiled is one of a profile, with the fields that the profile may have.
func profiled(name string, profile gitopsv1.CustomizerProfile) *gitopsv1.Customizer {
	minute := metav1.Duration{Duration: time.Minute}
	c := &gitopsv1.Customizer{ObjectMeta: metav1.ObjectMeta{Name: name}}
	c.Spec.Source.Git = &gitopsv1.GitSource{
		URL: "https://git.example.org/acme/platform", Interval: minute,
		Ref: &sourcev1.GitRepositoryRef{Branch: "main"}, SecretRef: &meta.LocalObjectReference{Name: "platform.gitops"},
	}
	c.Spec.Kustomization = gitopsv1.CustomizerKustomization{Path: "./overlays/production", Interval: metav1.Duration{Duration: 10 * time.Minute}, RetryInterval: &minute}
	c.Spec.RBAC.Profile = profile
	return c
}

// TestStackIsWhatTheGoldenFilesShow shows a reader of a change what it does to the cluster.
func TestStackIsWhatTheGoldenFilesShow(t *testing.T) {
	curated := profiled("platform", gitopsv1.ProfileCurated)
	curated.Spec.RBAC.OwnedNamespaces = []string{"acme-platform"}
	curated.Spec.RBAC.ExtraRules = []gitopsv1.ExtraRule{{APIGroups: []string{"policies.example.org"}, Resources: []string{"clusterpolicies"}, Verbs: []string{"get", "patch"}}}
	curated.Spec.Kustomization.Decryption = &gitopsv1.Decryption{Provider: "sops", SecretRef: &meta.LocalObjectReference{Name: "sops.gitops"}}
	curated.Spec.Kustomization.PostBuild = &gitopsv1.PostBuild{Substitute: map[string]string{"environment": "production"}}
	overrides := profiled("monitoring", gitopsv1.ProfileOverridesOnly)
	keep := false
	overrides.Spec.Suspend = true
	overrides.Spec.Kustomization.Prune = &keep
	overrides.Spec.Kustomization.HealthChecks = &[]meta.NamespacedObjectKindReference{}
	admin := profiled("all", gitopsv1.ProfileClusterAdmin)
	admin.Spec.Source = gitopsv1.CustomizerSource{OCI: &gitopsv1.OCISource{URL: "oci://registry.example.org/acme/platform", Interval: metav1.Duration{Duration: time.Minute}}}
	admin.Spec.RBAC.OwnedNamespaces = []string{"acme-platform"}
	admin.Spec.Kustomization.Wait = true
	admin.Spec.Kustomization.DeletionPolicy = kustomizev1.DeletionPolicyDelete
	for name, c := range map[string]struct {
		customizer *gitopsv1.Customizer
		account    string
	}{
		"curated":        {curated, customizer.FirstAccount},
		"overrides-only": {overrides, "cozystack-customizer-monitoring"},
		"cluster-admin":  {admin, "cozystack-customizer-all"},
	} {
		t.Run(name, func(t *testing.T) {
			stack, err := customizer.Stamp(c.customizer, c.account)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name+".golden.yaml")
			got := render(t, stack)
			if *update {
				if err := os.WriteFile(path, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("another stack than in %s:\n%s", path, got)
			}
		})
	}
}

func render(t *testing.T, stack *customizer.Stack) []byte {
	t.Helper()
	var objects []client.Object
	for _, namespace := range stack.Namespaces {
		objects = append(objects, namespace)
	}
	objects = append(append(objects, stack.Access...), stack.Extra...)
	objects = append(objects, stack.Fetched, stack.Kustomization)
	var out bytes.Buffer
	for _, object := range objects {
		text, err := yaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString("---\n")
		out.Write(text)
	}
	return out.Bytes()
}

// TestStampLeavesItsInputAlone: what is stamped for one is no part of what is stamped next.
func TestStampLeavesItsInputAlone(t *testing.T) {
	c := profiled("platform", gitopsv1.ProfileClusterAdmin)
	first, err := customizer.Stamp(c, customizer.FirstAccount)
	if err != nil {
		t.Fatal(err)
	}
	before := render(t, first)
	first.Kustomization.Spec.Patches = nil
	first.Kustomization.Spec.RetryInterval.Duration = time.Hour
	first.Fetched.(*sourcev1.GitRepository).Spec.Reference.Branch = "other"
	second, err := customizer.Stamp(c, customizer.FirstAccount)
	if err != nil {
		t.Fatal(err)
	}
	if after := render(t, second); !bytes.Equal(before, after) {
		t.Errorf("another stack than before:\n%s", after)
	}
}

// TestWithoutASource: admission refuses it, and nothing is stamped all the same.
func TestWithoutASource(t *testing.T) {
	c := profiled("platform", gitopsv1.ProfileCurated)
	c.Spec.Source.Git = nil
	if stack, err := customizer.Stamp(c, customizer.FirstAccount); err == nil {
		t.Errorf("stamped is %v", stack)
	}
}
