package customizer_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/customizer"
)

// handMade is the bootstrap Package as an admin made it once.
const handMade = `apiVersion: cozystack.io/v1alpha1
kind: Package
metadata:
  name: cozystack.cozystack-platform
  annotations: {example.org/by: hand}
spec:
  variant: default
  components:
    platform:
      values:
        networking: {podCIDR: 10.244.0.0/16, serviceCIDR: 10.96.0.0/16}
        publishing: {host: old.example.org, apiServer: api.example.org}
        bundles: [system, iaas]
`

// partial is what the repository has of it.
const partial = `apiVersion: cozystack.io/v1alpha1
kind: Package
metadata: {name: cozystack.cozystack-platform}
spec:
  components:
    platform:
      values:
        publishing: {host: new.example.org}
`

// TestSelfAdoption: a partial manifest of the bootstrap Package changes what is in it and
// nothing else, however the Package was made, and its file can go again.
func TestSelfAdoption(t *testing.T) {
	for name, args := range map[string][]string{
		"adopted-apply":       {"apply", "-f"},
		"adopted-server-side": {"apply", "--server-side", "-f"},
	} {
		t.Run(name, func(t *testing.T) {
			existing := &unstructured.Unstructured{}
			existing.SetGroupVersionKind(fromYAML(handMade).GroupVersionKind())
			existing.SetName(customizer.BootstrapPackage)
			if err := cluster.Client.Delete(t.Context(), existing); err != nil {
				t.Fatal(err)
			}
			harness.AwaitGone(t, cluster.Client, existing)
			file := filepath.Join(t.TempDir(), "package.yaml")
			if err := os.WriteFile(file, []byte(handMade), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := cluster.Kubectl(t.Context(), append(args, file)...); err != nil {
				t.Fatal(err)
			}
			before := readBootstrap(t)

			// The bootstrap Package is what it looks at, if it is told nothing else.
			c, repository := newCustomizer(t, name, map[string]string{"package.yaml": partial, "values.yaml": packageValues("acme." + name)})
			c.Spec.Kustomization.HealthChecks = nil
			create(t, c)
			head, err := repository.Head()
			if err != nil {
				t.Fatal(err)
			}
			awaitApplied(t, name, head)
			after := readBootstrap(t)
			wantAdopted(t, before, after)

			commit := push(t, name, repository, nil, "package.yaml")
			awaitApplied(t, name, commit)
			left := readBootstrap(t)
			if left.GetUID() != before.GetUID() || !left.GetDeletionTimestamp().IsZero() {
				t.Fatal("the Package went with its file")
			}
			if host := hostOf(t, left); host != "new.example.org" {
				t.Errorf("publishing.host is %q", host)
			}
		})
	}
}

func readBootstrap(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	o.SetGroupVersionKind(fromYAML(handMade).GroupVersionKind())
	if err := cluster.Client.Get(t.Context(), client.ObjectKey{Name: customizer.BootstrapPackage}, o); err != nil {
		t.Fatal(err)
	}
	return o
}

func hostOf(t *testing.T, o *unstructured.Unstructured) string {
	t.Helper()
	host, _, err := unstructured.NestedString(o.Object, "spec", "components", "platform", "values", "publishing", "host")
	if err != nil {
		t.Fatal(err)
	}
	return host
}

// wantAdopted compares the Package before and after: one value is another one, and all else of
// the spec is as it was, owned by whom it was.
func wantAdopted(t *testing.T, before, after *unstructured.Unstructured) {
	t.Helper()
	if host := hostOf(t, after); host != "new.example.org" {
		t.Errorf("publishing.host is %q", host)
	}
	was := before.DeepCopy()
	if err := unstructured.SetNestedField(was.Object, "new.example.org", "spec", "components", "platform", "values", "publishing", "host"); err != nil {
		t.Fatal(err)
	}
	if asText(t, after.Object["spec"]) != asText(t, was.Object["spec"]) {
		t.Errorf("the spec is %s, want %s", asText(t, after.Object["spec"]), asText(t, was.Object["spec"]))
	}
	for key, value := range before.GetAnnotations() {
		if after.GetAnnotations()[key] != value {
			t.Errorf("the annotation %s is %q, was %q", key, after.GetAnnotations()[key], value)
		}
	}
	// All that the repository owns is what is in it.
	if owned := fieldsOf(t, after, "kustomize-controller"); !slices.Equal(owned, []string{"spec.components.platform.values.publishing.host"}) {
		t.Errorf("the repository owns %v", owned)
	}
	// Who made it owns the rest.
	want := slices.DeleteFunc(fieldsOf(t, before, "kubectl"), func(path string) bool { return path == "spec.components.platform.values.publishing.host" })
	if owned := fieldsOf(t, after, "kubectl"); !slices.Equal(owned, want) || len(want) < 4 {
		t.Errorf("kubectl owns %v, want %v", owned, want)
	}
}

// fieldsOf are the paths in the spec that a field manager, or one whose name begins so, owns.
func fieldsOf(t *testing.T, o *unstructured.Unstructured, manager string) []string {
	t.Helper()
	var paths []string
	for _, entry := range o.GetManagedFields() {
		if !strings.HasPrefix(entry.Manager, manager) || entry.Subresource != "" {
			continue
		}
		var fields map[string]any
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, leaves(fields, "")...)
	}
	slices.Sort(paths)
	return slices.DeleteFunc(paths, func(path string) bool { return !strings.HasPrefix(path, "spec.") })
}

func leaves(fields map[string]any, prefix string) []string {
	var paths []string
	for key, value := range fields {
		name, isField := strings.CutPrefix(key, "f:")
		if !isField {
			continue
		}
		path := strings.TrimPrefix(prefix+"."+name, ".")
		below, _ := value.(map[string]any)
		if inner := leaves(below, path); len(inner) > 0 {
			paths = append(paths, inner...)
		} else {
			paths = append(paths, path)
		}
	}
	return paths
}

func asText(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
