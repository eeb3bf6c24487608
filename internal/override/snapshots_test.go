package override_test

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/helmrelease"
	"github.com/cozystack/gitops-operator/internal/override"
	"github.com/cozystack/gitops-operator/internal/packages"
)

const operatorNamespace = "cozy-gitops"

func json(text string) *apiextensionsv1.JSON {
	if text == "" {
		return nil
	}
	return &apiextensionsv1.JSON{Raw: []byte(text)}
}

// snapshotOf has a Package with the components web and db, of which web has values, a library
// without a release, one that is disabled, and the operator's own. The override is of web; none
// for no PackageValues.
func snapshotOf(values string, web *cozyv1.ComponentValues) override.Snapshot {
	install := func(namespace string) *packages.Install { return &packages.Install{Namespace: namespace} }
	s := override.Snapshot{
		Package: &packages.Package{ObjectMeta: metav1.ObjectMeta{Name: "acme.shop"}, Spec: packages.PackageSpec{Components: map[string]packages.PackageComponent{
			"web": {Values: json(values)}, "off": {Enabled: new(false)},
		}}},
		Source: &packages.PackageSource{Spec: packages.PackageSourceSpec{Variants: []packages.Variant{{Name: "default", Components: []packages.Component{
			{Name: "web", Install: install("cozy-acme")}, {Name: "db", Install: install("cozy-acme")},
			{Name: "library"}, {Name: "off", Install: install("cozy-acme")}, {Name: "own", Install: install(operatorNamespace)},
		}}}}},
	}
	if web != nil {
		s.Values = overriding(map[string]cozyv1.ComponentValues{"web": *web})
	}
	return s
}

func overriding(components map[string]cozyv1.ComponentValues) *cozyv1.PackageValues {
	return &cozyv1.PackageValues{ObjectMeta: metav1.ObjectMeta{Name: "acme.shop"}, Spec: cozyv1.PackageValuesSpec{Components: components}}
}

func key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "cozy-acme", Name: name}
}

// release has values as they are in the cache: only their digest.
func release(t *testing.T, name, values string, labelled bool) packages.Release {
	t.Helper()
	r := packages.Release{
		ObjectMeta: metav1.ObjectMeta{Namespace: "cozy-acme", Name: name, ResourceVersion: "7", Generation: 2, Labels: map[string]string{packages.PackageLabel: "acme.shop"}},
		Digest:     digest(t, values),
		Status: helmrelease.Status{ObservedGeneration: 2, Conditions: []metav1.Condition{
			{Type: "Ready", Status: metav1.ConditionTrue, Reason: "UpgradeSucceeded", Message: "done", ObservedGeneration: 2},
		}},
	}
	if labelled {
		r.Labels[packages.OverriddenLabel] = packages.Overridden
	}
	return r
}

func digest(t *testing.T, values string) string {
	t.Helper()
	found, err := packages.Digest([]byte(values))
	if err != nil {
		t.Fatal(err)
	}
	return found
}
