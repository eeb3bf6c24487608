package tenancy

import (
	"math/rand"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
)

func child(name string, ancestors ...string) Namespace {
	l := map[string]string{AncestorLabelPrefix + name: ""}
	for _, a := range ancestors {
		l[AncestorLabelPrefix+a] = ""
	}
	return Namespace{Name: name, Labels: l}
}

func TestContains(t *testing.T) {
	root := Namespace{Name: Root, Labels: map[string]string{"namespace.cozystack.io/host": "example.org"}}
	a, ab, b := child("tenant-a", Root), child("tenant-a-b", Root, "tenant-a"), child("tenant-b", Root)
	unlabelled := Namespace{Name: "tenant-a-c"}
	system := Namespace{Name: "cozy-system", Labels: map[string]string{AncestorLabelPrefix + "tenant-a": ""}}
	damagedRoot := Namespace{Name: Root, Labels: map[string]string{AncestorLabelPrefix + "tenant-a": ""}}

	for _, tc := range []struct {
		why    string
		tenant string
		ns     Namespace
		want   bool
	}{
		{"its own namespace", "tenant-a", a, true},
		{"a child", "tenant-a", ab, true},
		{"a grandchild of the root", Root, ab, true},
		{"the root itself", Root, root, true},
		{"a sibling", "tenant-a", b, false},
		{"the parent", "tenant-a-b", a, false},
		{"the root from below", "tenant-a", root, false},
		{"a child by name alone", "tenant-a", unlabelled, false},
		{"a labelled namespace that is no tenant", "tenant-a", system, false},
		{"a root with a damaged label", "tenant-a", damagedRoot, false},
	} {
		if got := (Model{}).Contains(tc.tenant, tc.ns); got != tc.want {
			t.Errorf("%s: Contains(%s, %s) = %v", tc.why, tc.tenant, tc.ns.Name, got)
		}
	}
}

func TestSelectorReplacesThePrefix(t *testing.T) {
	selector, err := labels.Parse("example.org/tenant")
	if err != nil {
		t.Fatal(err)
	}
	m := Model{Selector: selector}
	if m.IsTenant(Namespace{Name: "tenant-a"}) {
		t.Error("the name made a tenant although a selector is set")
	}
	if !m.IsTenant(Namespace{Name: "acme", Labels: map[string]string{"example.org/tenant": ""}}) {
		t.Error("the selected namespace is no tenant")
	}
}

// TestContainsIsAPartialOrder builds random trees as the tenant chart labels
// them and compares Contains with the chain of parents.
func TestContainsIsAPartialOrder(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for range 50 {
		tree := []Namespace{{Name: Root}}
		chain := map[string][]string{Root: {Root}}
		for i := range 40 {
			parent := tree[random.Intn(len(tree))].Name
			name := parent + "-" + string(rune('a'+i%26)) + strings.Repeat("x", i/26)
			if parent == Root {
				name = "tenant-" + string(rune('a'+i%26)) + strings.Repeat("x", i/26)
			}
			if _, taken := chain[name]; taken {
				continue
			}
			tree = append(tree, child(name, chain[parent]...))
			chain[name] = append(append([]string{}, chain[parent]...), name)
		}
		for _, upper := range tree {
			for _, lower := range tree {
				want := false
				for _, link := range chain[lower.Name] {
					want = want || link == upper.Name
				}
				if got := (Model{}).Contains(upper.Name, lower); got != want {
					t.Fatalf("Contains(%s, %s) = %v, want %v", upper.Name, lower.Name, got, want)
				}
			}
		}
	}
}
