package main

import (
	"encoding/json"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/standins/packageoperator/kinds"
)

// storedValues are the values of a release as the API server sends them.
func storedValues(t *testing.T, namespace, name string) *apiextensionsv1.JSON {
	t.Helper()
	release := &kinds.HelmRelease{}
	if err := cluster.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, release); err != nil {
		t.Fatal(err)
	}
	return release.Spec.Values
}

// What the API server itself makes of numbers is the same in both.
func TestValuesOfThePackageAreTheReleasesToTheLastByte(t *testing.T) {
	const values = `{"b":{"null":null,"list":[1,null,{}],"empty":{}},"a":9007199254740993,"c":1.50,"d":1e3,"e":"1","f":-0.0,"g":1e-7,"h":"<&>\u2028"}`
	newSource(t, "verbatim", `[
{name: full, path: p, install: {namespace: cozy-verbatim}},
{name: empty, path: p, install: {namespace: cozy-verbatim}},
{name: absent, path: p, install: {namespace: cozy-verbatim}}]`)
	pkg := &kinds.Package{ObjectMeta: metav1.ObjectMeta{Name: "verbatim"}}
	pkg.Spec.Components = map[string]kinds.PackageComponent{
		"full":  {Values: &apiextensionsv1.JSON{Raw: []byte(values)}},
		"empty": {Values: &apiextensionsv1.JSON{Raw: []byte("{}")}},
	}
	if err := cluster.Client.Create(t.Context(), pkg); err != nil {
		t.Fatal(err)
	}
	pkg = awaitReady(t, "verbatim", metav1.ConditionTrue, "ReconciliationSucceeded")
	wanted := string(pkg.Spec.Components["full"].Values.Raw)
	if got := string(storedValues(t, "cozy-verbatim", "full").Raw); got != wanted {
		t.Errorf("values %s, want %s", got, wanted)
	}
	var number struct{ A json.Number }
	if err := json.Unmarshal([]byte(wanted), &number); err != nil || number.A != "9007199254740993" {
		t.Errorf("the Package's own values are %s", wanted)
	}
	if got := storedValues(t, "cozy-verbatim", "empty"); got == nil || string(got.Raw) != "{}" {
		t.Errorf("empty values are %s", got)
	}
	if got := storedValues(t, "cozy-verbatim", "absent"); got != nil {
		t.Errorf("absent values are %s", got.Raw)
	}
}
