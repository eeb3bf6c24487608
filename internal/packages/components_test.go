package packages_test

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cozystack/gitops-operator/internal/packages"
)

// source has two variants; a component without a release, and two whose releases are called
// as the other's component.
func source() *packages.PackageSource {
	return &packages.PackageSource{Spec: packages.PackageSourceSpec{Variants: []packages.Variant{
		{Name: "small", Components: []packages.Component{{Name: "web", Install: &packages.Install{Namespace: "cozy-small"}}}},
		{Name: "default", Components: []packages.Component{
			{Name: "library"},
			{Name: "web", Install: &packages.Install{Namespace: "cozy-acme"}},
			{Name: "first", Install: &packages.Install{Namespace: "cozy-acme", ReleaseName: "second"}},
			{Name: "second", Install: &packages.Install{Namespace: "cozy-acme", ReleaseName: "first"}},
		}},
	}}}
}

func ofVariant(variant string, components map[string]packages.PackageComponent) *packages.Package {
	return &packages.Package{Spec: packages.PackageSpec{Variant: variant, Components: components}}
}

func TestComponentsAreThoseOfTheVariant(t *testing.T) {
	for variant, want := range map[string]int{"": 4, "default": 4, "small": 1} {
		components, found := packages.Components(ofVariant(variant, nil), source())
		if !found || len(components) != want {
			t.Errorf("variant %q has %d components (%t), want %d", variant, len(components), found, want)
		}
	}
	if components, found := packages.Components(ofVariant("large", nil), source()); found || components != nil {
		t.Errorf("a variant that the source does not have has %v", components)
	}
	if _, found := packages.Components(ofVariant("", nil), &packages.PackageSource{}); found {
		t.Error("a source without variants has the default one")
	}
}

func TestReleaseOfAComponent(t *testing.T) {
	for _, c := range []struct {
		what      string
		component packages.Component
		enabled   *bool
		want      string
	}{
		{"a chart without a release", packages.Component{Name: "web"}, nil, ""},
		{"called as the component", packages.Component{Name: "web", Install: &packages.Install{Namespace: "a"}}, nil, "a/web"},
		{"by a name of its own", packages.Component{Name: "web", Install: &packages.Install{Namespace: "a", ReleaseName: "b"}}, nil, "a/b"},
		{"enabled", packages.Component{Name: "web", Install: &packages.Install{Namespace: "a"}}, new(true), "a/web"},
		{"disabled", packages.Component{Name: "web", Install: &packages.Install{Namespace: "a"}}, new(false), ""},
		{"enabled, and a chart without a release", packages.Component{Name: "web"}, new(true), ""},
	} {
		pkg := ofVariant("", map[string]packages.PackageComponent{"web": {Enabled: c.enabled}, "other": {Enabled: new(false)}})
		release, installed := packages.ReleaseOf(pkg, c.component)
		if got := release.String(); installed != (c.want != "") || installed && got != c.want {
			t.Errorf("%s: %s (%t), want %q", c.what, got, installed, c.want)
		}
	}
}

func TestComponentOfARelease(t *testing.T) {
	pkg := ofVariant("", map[string]packages.PackageComponent{"web": {}})
	for release, want := range map[types.NamespacedName]string{
		{Namespace: "cozy-acme", Name: "web"}:     "web",
		{Namespace: "cozy-acme", Name: "first"}:   "second",
		{Namespace: "cozy-acme", Name: "second"}:  "first",
		{Namespace: "cozy-small", Name: "web"}:    "",
		{Namespace: "cozy-acme", Name: "library"}: "",
		{Namespace: "cozy-acme", Name: ""}:        "",
		{}:                                        "",
	} {
		component, found := packages.ComponentOf(pkg, source(), release)
		if found != (want != "") || component.Name != want {
			t.Errorf("%s is of %q (%t), want %q", release, component.Name, found, want)
		}
	}
	web := types.NamespacedName{Namespace: "cozy-acme", Name: "web"}
	pkg.Spec.Components["web"] = packages.PackageComponent{Enabled: new(false)}
	if component, found := packages.ComponentOf(pkg, source(), web); found {
		t.Errorf("the release of a component that is disabled is of %s", component.Name)
	}
	if component, found := packages.ComponentOf(ofVariant("large", nil), source(), web); found {
		t.Errorf("where the variant is unknown, the release is of %s", component.Name)
	}
}

func TestValuesOfAComponentAreAsTheyAreWritten(t *testing.T) {
	written := `{"b": 1e3,"a":1.0}`
	pkg := ofVariant("", map[string]packages.PackageComponent{
		"web": {Values: &apiextensionsv1.JSON{Raw: []byte(written)}}, "first": {}, "second": {Values: &apiextensionsv1.JSON{Raw: []byte(`{}`)}},
	})
	for component, want := range map[string]string{"web": written, "first": "", "second": "{}", "nobody": ""} {
		if got := string(packages.ValuesOf(pkg, component)); got != want {
			t.Errorf("%s has %s, want %s", component, got, want)
		}
	}
}
