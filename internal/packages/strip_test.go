package packages_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	toolscache "k8s.io/client-go/tools/cache"

	"github.com/cozystack/gitops-operator/internal/packages"
)

// canary is a password: it must be nowhere in what is kept.
const canary = "canary-7f3a"

const stored = `{
"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
"metadata": {
  "namespace": "cozy-acme", "name": "web", "uid": "u", "resourceVersion": "7", "generation": 3,
  "creationTimestamp": "2026-01-01T00:00:00Z", "deletionTimestamp": "2026-01-02T00:00:00Z",
  "labels": {"cozystack.io/package": "acme.web", "gitops.cozystack.io/values-overridden": "true"},
  "annotations": {
    "kubectl.kubernetes.io/last-applied-configuration": "{\"spec\":{\"values\":{\"password\":\"canary-7f3a\"}}}",
    "gitops.cozystack.io/values-wanted": "sha256:a at 6", "example.org/note": "canary-7f3a"
  },
  "finalizers": ["canary-7f3a"],
  "ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "canary-7f3a", "uid": "o"}],
  "managedFields": [{"manager": "canary-7f3a", "operation": "Update", "fieldsV1": {"f:canary-7f3a": {}}}]
},
"spec": {
  "suspend": true, "values": {"password": "canary-7f3a", "canary-7f3a": 1}, "chart": {"spec": {"chart": "canary-7f3a"}},
  "valuesFrom": [{"kind": "Secret", "name": "canary-7f3a"}]
},
"status": {
  "observedGeneration": 2, "history": [{"digest": "canary-7f3a"}],
  "conditions": [{"type": "Ready", "status": "True", "reason": "UpgradeSucceeded", "message": "done", "lastTransitionTime": "2026-01-01T00:00:00Z"}]
}}`

func read(t *testing.T) *packages.Release {
	t.Helper()
	release := &packages.Release{}
	if err := json.Unmarshal([]byte(stored), release); err != nil {
		t.Fatal(err)
	}
	return release
}

func strip(t *testing.T, release *packages.Release) *packages.Release {
	t.Helper()
	stripped, err := packages.Strip(release)
	if err != nil {
		t.Fatal(err)
	}
	return stripped.(*packages.Release)
}

func TestNoValuesAreKept(t *testing.T) {
	release := read(t)
	if !strings.Contains(dump(t, release), canary) {
		t.Fatal("nothing is there to be stripped")
	}
	if kept := dump(t, strip(t, release)); strings.Contains(kept, canary) {
		t.Errorf("what is kept has the password:\n%s", kept)
	}
}

// dump is all that a log or a dump could show of a release.
func dump(t *testing.T, release *packages.Release) string {
	t.Helper()
	encoded, err := json.Marshal(release)
	if err != nil {
		t.Fatal(err)
	}
	values := ""
	if release.Spec.Values != nil {
		values = string(release.Spec.Values.Raw)
	}
	return fmt.Sprintf("%s\n%+v\n%#v\n%s", encoded, release, release, values)
}

func TestWhatIsLookedAtIsKept(t *testing.T) {
	release := read(t)
	stripped := strip(t, release)
	if want := digest(t, string(release.Spec.Values.Raw)); stripped.Digest != want {
		t.Errorf("the digest is %s, want %s", stripped.Digest, want)
	}
	if want := map[string]string{packages.WantedAnnotation: "sha256:a at 6"}; !reflect.DeepEqual(stripped.Annotations, want) {
		t.Errorf("annotations: %v", stripped.Annotations)
	}
	if !reflect.DeepEqual(stripped.Labels, release.Labels) || !stripped.Spec.Suspend || !reflect.DeepEqual(stripped.Status, release.Status) ||
		stripped.Namespace != "cozy-acme" || stripped.Name != "web" || stripped.UID != "u" || stripped.ResourceVersion != "7" ||
		stripped.Generation != 3 || stripped.DeletionTimestamp.IsZero() || stripped.CreationTimestamp.IsZero() ||
		stripped.Kind != "HelmRelease" {
		t.Errorf("kept: %+v", stripped)
	}
	if again := strip(t, stripped); !reflect.DeepEqual(again, stripped) {
		t.Errorf("stripped again, it is %+v", again)
	}
	release.Spec.Values, release.Annotations = nil, nil
	if stripped := strip(t, release); stripped.Digest != "" || stripped.Annotations != nil {
		t.Errorf("without values: %+v", stripped)
	}
}

func TestWhatIsGoneIsStrippedToo(t *testing.T) {
	stripped, err := packages.Strip(toolscache.DeletedFinalStateUnknown{Key: "cozy-acme/web", Obj: read(t)})
	if err != nil {
		t.Fatal(err)
	}
	gone := stripped.(toolscache.DeletedFinalStateUnknown)
	if kept := dump(t, gone.Obj.(*packages.Release)); gone.Key != "cozy-acme/web" || strings.Contains(kept, canary) {
		t.Errorf("%s: %s", gone.Key, kept)
	}
}

func TestStripErrorsHoldNoValues(t *testing.T) {
	release := read(t)
	release.Spec.Values.Raw = []byte(`{"password": 4711e999}`)
	if _, err := packages.Strip(release); err == nil || strings.Contains(err.Error(), "4711") || !strings.Contains(err.Error(), "HelmRelease cozy-acme/web") {
		t.Errorf("values that cannot be read: %v", err)
	}
	if _, err := packages.Strip(&packages.Package{}); err == nil || !strings.Contains(err.Error(), "*packages.Package") {
		t.Errorf("another kind: %v", err)
	}
}

func TestStateIsAboutTheReleaseAsItIs(t *testing.T) {
	release := read(t)
	release.DeletionTimestamp = nil
	if state := release.State(); state.Message != "done" {
		t.Errorf("%+v", state)
	}
	// A condition that tells the generation it is about says nothing of another one.
	release.Status.Conditions[0].ObservedGeneration = 2
	if state := release.State(); state.Message != "" {
		t.Errorf("%+v", state)
	}
}
