package fields_test

import (
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/kustomize"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
)

// TestBuildFields applies one repository through several sources, each of which uses
// one field that changes what is built.
func TestBuildFields(t *testing.T) {
	namespace := newTenant(t, "tenant-build")
	repository, commit := newRepository(t, "acme/build", map[string]string{
		"path/inside/app.yaml":          fixtures.Redis("in-path", 1),
		"path/outside.yaml":             fixtures.Redis("out-of-path", 1),
		"patched/app.yaml":              fixtures.Redis("patched", 1),
		"patched/other.yaml":            fixtures.Redis("not-patched", 1),
		"composed/kustomization.yaml":   "resources: [app.yaml]\n",
		"composed/app.yaml":             fixtures.Redis("composed", 1),
		"large/kustomization.yaml":      "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\npatches:\n- target: {kind: Redis}\n  patch: |\n    - {op: replace, path: /spec/replicas, value: 7}\n",
		"labelled/app.yaml":             fixtures.Redis("labelled", 1),
		"substituted/app.yaml":          fixtures.Manifest("Redis", "substituted", map[string]any{"size": "${size}", "zone": "${zone:=here}", "kept": "$${size}"}),
		"ignored/applied.yaml":          fixtures.Redis("not-ignored", 1),
		"ignored/drafts/draft.yaml":     fixtures.Redis("ignored", 1),
		"sparse/wanted/app.yaml":        fixtures.Redis("in-sparse", 1),
		"sparse/unwanted/app.yaml":      fixtures.Redis("out-of-sparse", 1),
		"overlay/kustomization.yaml":    "resources: [../base]\nnamePrefix: overlaid-\n",
		"base/kustomization.yaml":       "resources: [app.yaml]\n",
		"base/app.yaml":                 fixtures.Redis("base", 1),
		"metadata-namespace/app.yaml":   "apiVersion: apps.cozystack.io/v1alpha1\nkind: Redis\nmetadata: {name: with-namespace, namespace: tenant-elsewhere}\nspec: {}\n",
		"metadata-namespace/other.yaml": fixtures.Redis("without-namespace", 1),
	})
	source := func(name, path string, change func(*gitopsv1.Source)) gitopsv1.Source {
		s := fromGit(t, namespace, name, repository)
		s.Path = path
		change(&s)
		return s
	}
	unchanged := func(*gitopsv1.Source) {}
	write(t, namespace,
		source("path", "path/inside", unchanged),
		source("overlay", "./overlay/", unchanged),
		source("namespaces", "./metadata-namespace", unchanged),
		source("patches", "./patched", func(s *gitopsv1.Source) {
			s.Patches = []kustomize.Patch{
				{Target: &kustomize.Selector{Kind: "Redis", Name: "patched"}, Patch: "- {op: replace, path: /spec/replicas, value: 5}"},
				{Patch: "apiVersion: apps.cozystack.io/v1alpha1\nkind: Redis\nmetadata: {name: patched}\nspec: {merged: true}"},
			}
		}),
		source("components", "./composed", func(s *gitopsv1.Source) { s.Components = []string{"../large"} }),
		source("metadata", "./labelled", func(s *gitopsv1.Source) {
			s.CommonMetadata = &kustomizev1.CommonMetadata{
				Labels: map[string]string{"acme.example.org/team": "a"}, Annotations: map[string]string{"acme.example.org/note": "b"},
			}
		}),
		source("substitute", "./substituted", func(s *gitopsv1.Source) {
			s.PostBuild = &gitopsv1.PostBuild{Substitute: map[string]string{"size": "3Gi"}}
		}),
		source("ignore", "./ignored", func(s *gitopsv1.Source) { s.Git.Ignore = pointer("drafts/\n") }),
		source("sparse", "./sparse", func(s *gitopsv1.Source) { s.Git.SparseCheckout = []string{"sparse/wanted"} }),
	)

	for _, tc := range []struct {
		source string
		check  func(t *testing.T)
	}{
		{"path", func(t *testing.T) {
			application(t, "Redis", namespace, "in-path")
			wantAbsent(t, "Redis", namespace, "out-of-path")
		}},
		{"overlay", func(t *testing.T) { application(t, "Redis", namespace, "overlaid-base") }},
		{"namespaces", func(t *testing.T) {
			application(t, "Redis", namespace, "with-namespace")
			application(t, "Redis", namespace, "without-namespace")
		}},
		{"patches", func(t *testing.T) {
			patched := application(t, "Redis", namespace, "patched")
			wantSpec(t, patched, "replicas", "5")
			wantSpec(t, patched, "merged", "true")
			wantSpec(t, application(t, "Redis", namespace, "not-patched"), "replicas", "1")
		}},
		{"components", func(t *testing.T) { wantSpec(t, application(t, "Redis", namespace, "composed"), "replicas", "7") }},
		{"metadata", func(t *testing.T) {
			labelled := application(t, "Redis", namespace, "labelled")
			if labelled.GetLabels()["acme.example.org/team"] != "a" || labelled.GetAnnotations()["acme.example.org/note"] != "b" {
				t.Errorf("the application has labels %v and annotations %v", labelled.GetLabels(), labelled.GetAnnotations())
			}
		}},
		{"substitute", func(t *testing.T) {
			substituted := application(t, "Redis", namespace, "substituted")
			wantSpec(t, substituted, "size", "3Gi")
			wantSpec(t, substituted, "zone", "here")
			wantSpec(t, substituted, "kept", "${size}")
		}},
		{"ignore", func(t *testing.T) {
			application(t, "Redis", namespace, "not-ignored")
			wantAbsent(t, "Redis", namespace, "ignored")
		}},
		{"sparse", func(t *testing.T) {
			application(t, "Redis", namespace, "in-sparse")
			wantAbsent(t, "Redis", namespace, "out-of-sparse")
		}},
	} {
		t.Run(tc.source, func(t *testing.T) {
			awaitSourceApplied(t, namespace, tc.source, commit)
			tc.check(t)
		})
	}
}
