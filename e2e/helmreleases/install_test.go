package helmreleases

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
)

func TestReleaseIsInstalledAndSaysSo(t *testing.T) {
	release := newRelease(t, newNamespace(t, "installs"), "db", "values: {size: 1Gi}")
	released := awaitCondition(t, release, "Released", "True", "InstallSucceeded")
	ready := awaitCondition(t, release, "Ready", "True", "InstallSucceeded")
	const message = "Helm install succeeded for release installs/db.v1 with chart application@1.0.0"
	if released.Message != message || ready.Message != message {
		t.Errorf("messages %q and %q, want %q", released.Message, ready.Message, message)
	}
	awaitCondition(t, release, "Reconciling", "", "")
	awaitObserved(t, release)
	if attempted := number(release, "lastAttemptedGeneration"); attempted != release.GetGeneration() {
		t.Errorf("generation %d was attempted last, want %d", attempted, release.GetGeneration())
	}
	if !slices.Contains(release.GetFinalizers(), finalizer) {
		t.Errorf("finalizers %v, want %s", release.GetFinalizers(), finalizer)
	}
	awaitHistory(t, release, "v1 deployed application@1.0.0;")
	if size := valuesOf(t, release)["size"]; size != "1Gi" {
		t.Errorf("installed with size %v, want 1Gi", size)
	}
}

func TestChartOfTheSourcesFolderIsInstalled(t *testing.T) {
	namespace := newNamespace(t, "own-chart")
	folder := filepath.Join(cluster.ChartsDir(), "own")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	release := newRelease(t, namespace, "own", "")
	waiting := awaitCondition(t, release, "Ready", "False", "SourceNotReady")
	if want := "ExternalArtifact 'cozy-system/own' is not ready: does not have an artifact"; waiting.Message != want {
		t.Errorf("message %q, want %q", waiting.Message, want)
	}
	writeChart(t, folder, map[string]string{
		"Chart.yaml":         "apiVersion: v2\nname: own\nversion: 2.3.4\n",
		"templates/map.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: own}\n",
	})
	awaitCondition(t, release, "Ready", "True", "InstallSucceeded")
	awaitHistory(t, release, "v1 deployed own@2.3.4;")
}

// writeChart replaces a folder in one step: the controller may read it at any time.
func writeChart(t *testing.T, folder string, files map[string]string) {
	t.Helper()
	made := filepath.Join(t.TempDir(), "chart")
	for name, content := range files {
		path := filepath.Join(made, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// A folder can take the place of an empty one, which os.Rename does not try.
	if err := syscall.Rename(made, folder); err != nil {
		t.Fatal(err)
	}
}
