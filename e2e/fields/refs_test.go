package fields_test

import (
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
)

// TestRefs checks out one repository in each way there is. Every commit holds one
// application, which tells by its name which commit it was.
func TestRefs(t *testing.T) {
	namespace := newTenant(t, "tenant-refs")
	repository, _ := newRepository(t, "acme/refs", map[string]string{"app.yaml": fixtures.Redis("on-default-branch", 1)})
	commits := map[string]string{}
	for _, name := range []string{"master", "branch", "tagged", "annotated", "semver-1-0", "semver-1-1", "semver-2-0", "named-branch", "named-tag", "not-the-tip"} {
		commits[name] = replace(t, repository.Branch(name), name)
	}
	for tag, commit := range map[string]string{
		"v-tagged": "tagged", "1.0.0": "semver-1-0", "1.1.0": "semver-1-1", "2.0.0": "semver-2-0", "v-named": "named-tag",
	} {
		if err := repository.Tag(t.Context(), tag, commits[commit]); err != nil {
			t.Fatal(err)
		}
	}
	if err := repository.AnnotatedTag(t.Context(), "v-annotated", commits["annotated"], "A release"); err != nil {
		t.Fatal(err)
	}
	if _, err := repository.Branch("not-the-tip").Commit(t.Context(), map[string]string{"app.yaml": fixtures.Redis("the-tip", 1)}); err != nil {
		t.Fatal(err)
	}

	cases := []struct {
		source string
		ref    *sourcev1.GitRepositoryRef
		app    string
	}{
		{"no-ref", nil, "master"},
		{"branch", &sourcev1.GitRepositoryRef{Branch: "branch"}, "branch"},
		{"tag", &sourcev1.GitRepositoryRef{Tag: "v-tagged"}, "tagged"},
		{"annotated-tag", &sourcev1.GitRepositoryRef{Tag: "v-annotated"}, "annotated"},
		{"semver", &sourcev1.GitRepositoryRef{SemVer: "1.x"}, "semver-1-1"},
		{"name-of-branch", &sourcev1.GitRepositoryRef{Name: "refs/heads/named-branch"}, "named-branch"},
		{"name-of-tag", &sourcev1.GitRepositoryRef{Name: "refs/tags/v-named"}, "named-tag"},
		{"commit", &sourcev1.GitRepositoryRef{Branch: "not-the-tip", Commit: commits["not-the-tip"]}, "not-the-tip"},
	}
	var sources []gitopsv1.Source
	for _, tc := range cases {
		source := fromGit(t, namespace, tc.source, repository)
		source.Git.Ref = tc.ref
		sources = append(sources, source)
	}
	write(t, namespace, sources...)
	for _, tc := range cases {
		t.Run(tc.source, func(t *testing.T) {
			status := awaitSourceApplied(t, namespace, tc.source, commits[tc.app])
			if status.Applications != 1 {
				t.Errorf("the source has %d applications, want 1", status.Applications)
			}
			application(t, "Redis", namespace, tc.app)
		})
	}
}

// replace makes a branch whose one commit holds one application.
func replace(t *testing.T, branch *gitserver.Branch, application string) string {
	t.Helper()
	commit, err := branch.Replace(t.Context(), map[string]string{"app.yaml": fixtures.Redis(application, 1)})
	if err != nil {
		t.Fatal(err)
	}
	return commit
}
