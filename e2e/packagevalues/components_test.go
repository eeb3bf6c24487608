package packagevalues_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/override"
	"github.com/cozystack/gitops-operator/internal/packages"
)

// newComponents makes a Package whose components have these values, as YAML, none for none,
// and awaits their releases, which are called as them, in the namespace cozy-<name>. Their
// charts take the values "fail" and "notReady".
func newComponents(t *testing.T, name string, values map[string]string) {
	t.Helper()
	create(t, sourceOf(t, name, slices.Sorted(maps.Keys(values))...))
	create(t, packageOf(t, name, values))
	for component := range values {
		harness.AwaitExists(t, cluster.Client, componentOf(name, component))
	}
}

// sourceOf is a PackageSource whose components have releases.
func sourceOf(t *testing.T, name string, components ...string) *unstructured.Unstructured {
	t.Helper()
	var installed []string
	for _, component := range components {
		installed = append(installed, fmt.Sprintf("{name: %s, path: %s, install: {namespace: cozy-%s}}", component, component, name))
	}
	return object(t, "PackageSource", name, "metadata: {annotations: {operator.cozystack.io/skip-cozystack-values: 'true'}}\n"+
		"spec: {variants: [{name: default, components: ["+strings.Join(installed, ", ")+"]}]}")
}

func packageOf(t *testing.T, name string, values map[string]string) *unstructured.Unstructured {
	t.Helper()
	components := map[string]any{}
	for component, content := range values {
		components[component] = map[string]any{}
		if content != "" {
			components[component] = map[string]any{"values": fromYAML(t, content)}
		}
	}
	pkg := object(t, "Package", name, "{}")
	pkg.Object["spec"] = map[string]any{"components": components}
	return pkg
}

func componentOf(name, component string) *unstructured.Unstructured {
	release := releaseOf(name)
	release.SetName(component)
	return release
}

// overrideComponents writes a PackageValues whose components are YAML.
func overrideComponents(t *testing.T, name, components string) {
	t.Helper()
	overrideSpec(t, name, "{components: "+components+"}")
}

// overrideSpec writes a PackageValues whose spec is YAML.
func overrideSpec(t *testing.T, name, spec string) {
	t.Helper()
	harness.Await(t, "the PackageValues to be written", func(ctx context.Context) (bool, string) {
		values := object(t, "PackageValues", name, "spec: "+spec)
		stored := object(t, "PackageValues", name, "{}")
		err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(stored), stored)
		switch {
		case err == nil:
			values.SetResourceVersion(stored.GetResourceVersion())
			err = cluster.Client.Update(ctx, values)
		case client.IgnoreNotFound(err) == nil:
			err = cluster.Client.Create(ctx, values)
		}
		return err == nil, fmt.Sprint(err)
	})
}

// raw is what the API server answers of a release, with the values as they are on the wire.
type raw struct {
	Metadata struct {
		Labels      map[string]string `json:"labels"`
		Annotations map[string]string `json:"annotations"`
	} `json:"metadata"`
	Spec struct {
		Values json.RawMessage `json:"values"`
	} `json:"spec"`
}

// ours are the label and the annotation of ours that a release has.
func (r raw) ours() []string {
	var found []string
	for _, key := range []string{packages.OverriddenLabel, packages.WantedAnnotation} {
		for _, all := range []map[string]string{r.Metadata.Labels, r.Metadata.Annotations} {
			if value, has := all[key]; has {
				found = append(found, key+"="+value)
			}
		}
	}
	return found
}

// readRaw reads a release without making anything of its values.
func readRaw(ctx context.Context, name, component string) (raw, error) {
	var answer raw
	caller, err := rest.HTTPClientFor(cluster.Config)
	if err != nil {
		return answer, err
	}
	address := fmt.Sprintf("%s/apis/helm.toolkit.fluxcd.io/v2/namespaces/cozy-%s/helmreleases/%s", cluster.Config.Host, name, component)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return answer, err
	}
	request.Header.Set("Accept", "application/json")
	response, err := caller.Do(request)
	if err != nil {
		return answer, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return answer, fmt.Errorf("read release %s of %s: %s", component, name, response.Status)
	}
	return answer, json.NewDecoder(response.Body).Decode(&answer)
}

// awaitComponent waits until the release of a component has these values, which are YAML;
// none for none.
func awaitComponent(t *testing.T, name, component, want string) raw {
	t.Helper()
	wanted := ""
	if want != "" {
		wanted = text(t, fromYAML(t, want))
	}
	var seen raw
	harness.Await(t, fmt.Sprintf("release %s of %s to have %s", component, name, want), func(ctx context.Context) (bool, string) {
		var err error
		seen, err = readRaw(ctx, name, component)
		return err == nil && string(seen.Spec.Values) == wanted, fmt.Sprint(string(seen.Spec.Values), err)
	})
	return seen
}

// wantComponent says that the release of a component has these values now.
func wantComponent(t *testing.T, name, component, want string) {
	t.Helper()
	seen, err := readRaw(t.Context(), name, component)
	if err != nil {
		t.Fatal(err)
	}
	if wanted := text(t, fromYAML(t, want)); string(seen.Spec.Values) != wanted {
		t.Errorf("release %s of %s has %s, want %s", component, name, seen.Spec.Values, wanted)
	}
}

// answered is what the pure function makes of what is stored now.
func answered(ctx context.Context, name, component string) (override.Answer, error) {
	snapshot, err := override.Read(ctx, cluster.Client, name)
	if err != nil {
		return override.Answer{}, err
	}
	return snapshot.ForRelease(client.ObjectKeyFromObject(componentOf(name, component)))
}

// agrees says whether a release is what the pure function answers, values and label.
func agrees(ctx context.Context, name, component string) (bool, string) {
	want, err := answered(ctx, name, component)
	if err != nil {
		return false, err.Error()
	}
	got, err := readRaw(ctx, name, component)
	if err != nil {
		return false, err.Error()
	}
	gotDigest, gotErr := packages.Digest(got.Spec.Values)
	wantDigest, wantErr := packages.Digest(want.Values)
	labelled := got.Metadata.Labels[packages.OverriddenLabel] == packages.Overridden
	seen := fmt.Sprintf("%s has %s, labelled %t; want %s, stance %d", component, got.Spec.Values, labelled, want.Values, want.Stance)
	if gotErr != nil || wantErr != nil {
		return false, seen
	}
	if want.Stance == override.Plain {
		return gotDigest == wantDigest && len(got.ours()) == 0, seen
	}
	return gotDigest == wantDigest && labelled, seen
}

// packageCondition is the condition ValuesOverridden of a Package, as text; empty for none.
func packageCondition(ctx context.Context, name string) (string, error) {
	pkg := &unstructured.Unstructured{}
	pkg.SetGroupVersionKind(packages.GroupVersion.WithKind("Package"))
	if err := cluster.Client.Get(ctx, client.ObjectKey{Name: name}, pkg); err != nil {
		return "", err
	}
	conditions, _, err := unstructured.NestedSlice(pkg.Object, "status", "conditions")
	for _, condition := range conditions {
		if stated := condition.(map[string]any); stated["type"] == cozyv1.ValuesOverriddenCondition {
			return fmt.Sprintf("%v at %v", stated["message"], stated["lastTransitionTime"]), nil
		}
	}
	return "", err
}

// awaitPackageCondition waits until the condition ValuesOverridden of a Package has a part
// in its message; an empty one waits until there is none.
func awaitPackageCondition(t *testing.T, name, part string) string {
	t.Helper()
	var seen string
	harness.Await(t, fmt.Sprintf("the condition ValuesOverridden of Package %s: %q", name, part), func(ctx context.Context) (bool, string) {
		var err error
		seen, err = packageCondition(ctx, name)
		return err == nil && (seen != "") == (part != "") && strings.Contains(seen, part), fmt.Sprint(seen, err)
	})
	return seen
}
