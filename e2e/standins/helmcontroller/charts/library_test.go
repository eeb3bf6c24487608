package charts

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSourceWithoutAFolderHasTheBuiltInChart(t *testing.T) {
	for _, library := range []Library{{}, {Folder: t.TempDir()}} {
		loaded, err := library.Load("cozystack-postgres")
		if err != nil {
			t.Fatal(err)
		}
		if loaded.Name() != "application" || len(loaded.Templates) == 0 || loaded.Values["fail"] != "" {
			t.Errorf("chart %s with %d templates and values %v", loaded.Name(), len(loaded.Templates), loaded.Values)
		}
	}
}

func TestChartOfAFolderIsReadAnew(t *testing.T) {
	library := Library{Folder: t.TempDir()}
	folder := filepath.Join(library.Folder, "own")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := library.Load("own"); !errors.Is(err, ErrNoArtifact) {
		t.Errorf("an empty folder: %v, want no artifact", err)
	}
	for _, version := range []string{"1.0.0", "1.1.0"} {
		description := "apiVersion: v2\nname: own\nversion: " + version + "\n"
		if err := os.WriteFile(filepath.Join(folder, "Chart.yaml"), []byte(description), 0o600); err != nil {
			t.Fatal(err)
		}
		loaded, err := library.Load("own")
		if err != nil {
			t.Fatal(err)
		}
		if loaded.Metadata.Version != version {
			t.Errorf("version %s, want %s", loaded.Metadata.Version, version)
		}
	}
}

func TestBrokenChartIsAnError(t *testing.T) {
	library := Library{Folder: t.TempDir()}
	folder := filepath.Join(library.Folder, "broken")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "values.yaml"), []byte("a: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := library.Load("broken"); err == nil || errors.Is(err, ErrNoArtifact) || !strings.Contains(err.Error(), "Chart.yaml") {
		t.Errorf("%v, want an error that names the missing Chart.yaml", err)
	}
	if _, err := library.Load("../broken"); err == nil {
		t.Error("a source's name led out of the folder")
	}
}
