package programs

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCRDsAreGeneratedFromTheTypesOfAPinnedModule(t *testing.T) {
	folder, err := CRDs(t.Context(), "helm-controller", "github.com/fluxcd/helm-controller/api/v2")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "helm.toolkit.fluxcd.io_helmreleases.yaml")
	made, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := CRDs(t.Context(), "helm-controller", "github.com/fluxcd/helm-controller/api/v2"); err != nil {
		t.Fatal(err)
	}
	again, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if !again.ModTime().Equal(made.ModTime()) {
		t.Error("the CRDs were generated a second time")
	}
}
