// Package charts finds the charts of releases: those that a test lays into a folder,
// and for all others a small one that is built in.
package charts

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"helm.sh/helm/v4/pkg/chart/loader/archive"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
)

//go:embed application
var builtIn embed.FS

const builtInFolder = "application"

// ErrNoArtifact says that a source has no chart yet.
var ErrNoArtifact = errors.New("does not have an artifact")

// Library is a folder with a chart's folder for each source, called as the source. A
// source whose folder is empty has no artifact yet; one without a folder has the
// built-in chart.
type Library struct {
	// Folder is where the charts lie; with none, every source has the built-in chart.
	Folder string
}

// Load reads the chart of a source anew, so that a test may change it meanwhile.
func (l Library) Load(source string) (*chart.Chart, error) {
	if l.Folder == "" {
		return loadBuiltIn()
	}
	if source != filepath.Base(source) || source == "." || source == ".." {
		return nil, fmt.Errorf("load chart of source %q: no name of a folder", source)
	}
	folder := filepath.Join(l.Folder, source)
	files, err := os.ReadDir(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return loadBuiltIn()
	case err != nil:
		return nil, fmt.Errorf("load chart of source %s: %w", source, err)
	case len(files) == 0:
		return nil, ErrNoArtifact
	}
	loaded, err := loader.LoadDir(folder)
	if err != nil {
		return nil, fmt.Errorf("load chart of source %s: %w", source, err)
	}
	return loaded, nil
}

func loadBuiltIn() (*chart.Chart, error) {
	var files []*archive.BufferedFile
	err := fs.WalkDir(builtIn, builtInFolder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := builtIn.ReadFile(path)
		files = append(files, &archive.BufferedFile{Name: strings.TrimPrefix(path, builtInFolder+"/"), Data: content})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("load the built-in chart: %w", err)
	}
	loaded, err := loader.LoadFiles(files)
	if err != nil {
		return nil, fmt.Errorf("load the built-in chart: %w", err)
	}
	return loaded, nil
}
