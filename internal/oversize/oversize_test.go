package oversize

import (
	"strings"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const mebibyte = 1 << 20

// stored is a source of generation 2 whose artifact is what generation 2 asks for.
func stored(size int64, change func(*Source)) Source {
	source := Source{
		Generation: 2, Content: "now", Artifact: &meta.Artifact{Size: &size},
		Conditions: []metav1.Condition{{Type: sourcev1.ArtifactInStorageCondition, Status: metav1.ConditionTrue, ObservedGeneration: 2}},
	}
	if change != nil {
		change(&source)
	}
	return source
}

func TestMustBeHeld(t *testing.T) {
	bound := resource.MustParse("1Mi")
	for _, test := range []struct {
		name   string
		source Source
		wanted string
		held   bool
	}{
		{"nothing fetched", Source{Generation: 1, Content: "now"}, "now", false},
		{"no size told", stored(0, func(s *Source) { s.Artifact.Size = nil }), "now", false},
		{"as large as may be", stored(mebibyte, nil), "now", false},
		{"one byte more", stored(mebibyte+1, nil), "now", true},
		{"fetched by the spec before", stored(2*mebibyte, func(s *Source) { s.Generation = 3 }), "now", false},
		{"out of storage", stored(2*mebibyte, func(s *Source) { s.Conditions[0].Status = metav1.ConditionFalse }), "now", false},
		{"Flux has said nothing yet", stored(2*mebibyte, func(s *Source) { s.Conditions = nil }), "now", false},
		{"another content is wanted", stored(2*mebibyte, nil), "next", false},
		// Suspending it made a generation that nobody fetches.
		{"held", stored(2*mebibyte, func(s *Source) { s.Held, s.Generation = "now", 3 }), "now", true},
		{"held, and another content is wanted", stored(2*mebibyte, func(s *Source) { s.Held, s.Generation = "now", 3 }), "next", false},
		{"held for what it was before", stored(2*mebibyte, func(s *Source) { s.Held, s.Generation = "before", 3 }), "now", false},
		{"held, and the bound was raised", stored(mebibyte, func(s *Source) { s.Held, s.Generation = "now", 3 }), "now", false},
		{"held, and the artifact is gone", Source{Generation: 3, Content: "now", Held: "now"}, "now", false},
		{"an empty annotation", stored(2*mebibyte, func(s *Source) { s.Held, s.Generation = "", 3 }), "now", false},
	} {
		if got := MustBeHeld(test.source, test.wanted, bound); got != test.held {
			t.Errorf("%s: held %t", test.name, got)
		}
	}
}

// TestContent changes every field of a spec: those that decide what is fetched make
// another digest, the others do not.
func TestContent(t *testing.T) {
	ignore := "*.bin"
	git := func(change func(*sourcev1.GitRepositorySpec)) string {
		spec := sourcev1.GitRepositorySpec{URL: "https://git.example.org/acme/apps", Reference: &sourcev1.GitRepositoryRef{Branch: "main"}}
		change(&spec)
		return GitContent(spec)
	}
	oci := func(change func(*sourcev1.OCIRepositorySpec)) string {
		spec := sourcev1.OCIRepositorySpec{URL: "oci://registry.example.org/acme/apps", Reference: &sourcev1.OCIRepositoryRef{Tag: "1"}}
		change(&spec)
		return OCIContent(spec)
	}
	plainGit, plainOCI := git(func(*sourcev1.GitRepositorySpec) {}), oci(func(*sourcev1.OCIRepositorySpec) {})
	for name, got := range map[string]string{
		"url":               git(func(s *sourcev1.GitRepositorySpec) { s.URL += ".git" }),
		"ref":               git(func(s *sourcev1.GitRepositorySpec) { s.Reference.Branch = "next" }),
		"another ref":       git(func(s *sourcev1.GitRepositorySpec) { s.Reference = &sourcev1.GitRepositoryRef{Tag: "main"} }),
		"ignore":            git(func(s *sourcev1.GitRepositorySpec) { s.Ignore = &ignore }),
		"recurseSubmodules": git(func(s *sourcev1.GitRepositorySpec) { s.RecurseSubmodules = true }),
		"sparseCheckout":    git(func(s *sourcev1.GitRepositorySpec) { s.SparseCheckout = []string{"apps"} }),
		"oci url":           oci(func(s *sourcev1.OCIRepositorySpec) { s.URL += "2" }),
		"oci ref":           oci(func(s *sourcev1.OCIRepositorySpec) { s.Reference.Tag = "2" }),
		"oci ignore":        oci(func(s *sourcev1.OCIRepositorySpec) { s.Ignore = &ignore }),
		"oci layerSelector": oci(func(s *sourcev1.OCIRepositorySpec) { s.LayerSelector = &sourcev1.OCILayerSelector{Operation: "copy"} }),
	} {
		if got == plainGit || got == plainOCI {
			t.Errorf("a change of %s gives no other try", name)
		}
	}
	login := &meta.LocalObjectReference{Name: "login.gitops"}
	if git(func(s *sourcev1.GitRepositorySpec) { s.Suspend, s.Interval.Duration, s.SecretRef = true, 1, login }) != plainGit ||
		oci(func(s *sourcev1.OCIRepositorySpec) { s.Suspend, s.Interval.Duration, s.SecretRef = true, 1, login }) != plainOCI {
		t.Error("the interval, a Secret or the suspension gives another try")
	}
}

func TestMessageSaysSizeBoundAndMend(t *testing.T) {
	text := Message(2097152, resource.MustParse("1Mi"))
	for _, part := range []string{"2097152 bytes", "1Mi (1048576 bytes)", "ignore", "ref", "url", "spec.maxArtifactSize"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q lacks %q", text, part)
		}
	}
}
