package kind

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// entries reads a tar archive.
func entries(t *testing.T, archive io.Reader) (headers map[string]*tar.Header, contents map[string][]byte) {
	t.Helper()
	headers, contents = map[string]*tar.Header{}, map[string][]byte{}
	reader := tar.NewReader(archive)
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return headers, contents
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		headers[header.Name], contents[header.Name] = header, content
	}
}

func programFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, []byte("ELF"), 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

func archiveOf(t *testing.T, images ...image) []byte {
	t.Helper()
	var archive bytes.Buffer
	if err := writeImages(&archive, images...); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

func TestImageOfOneProgram(t *testing.T) {
	made, err := programImage(t.TempDir(), "example.test/program:v1", programFile(t), "program", nonRoot)
	if err != nil {
		t.Fatal(err)
	}
	_, files := entries(t, bytes.NewReader(archiveOf(t, made)))

	var manifest []struct {
		Config           string
		RepoTags, Layers []string
	}
	if err := json.Unmarshal(files["manifest.json"], &manifest); err != nil {
		t.Fatal(err)
	}
	if len(manifest) != 1 || !slices.Equal(manifest[0].RepoTags, []string{"example.test/program:v1"}) || len(manifest[0].Layers) != 1 {
		t.Fatalf("manifest: %+v", manifest)
	}
	var config struct {
		OS     string
		Config struct {
			Entrypoint []string
			User       string
		}
		RootFS struct {
			DiffIDs []string `json:"diff_ids"`
		}
	}
	if err := json.Unmarshal(files[manifest[0].Config], &config); err != nil {
		t.Fatal(err)
	}
	if config.OS != "linux" || config.Config.User != "65532:65532" || !slices.Equal(config.Config.Entrypoint, []string{"/usr/local/bin/program"}) {
		t.Errorf("config: %+v", config)
	}
	if want := []string{"sha256:" + made.layers[0].digest}; !slices.Equal(config.RootFS.DiffIDs, want) {
		t.Errorf("diff ids: %v, want %v", config.RootFS.DiffIDs, want)
	}

	layer, contents := entries(t, bytes.NewReader(files[manifest[0].Layers[0]]))
	if string(contents["usr/local/bin/program"]) != "ELF" || layer["usr/local/bin/program"].Mode != 0o755 {
		t.Errorf("the program is not in the layer as it should be: %v", layer["usr/local/bin/program"])
	}
	if tmp := layer["tmp/"]; tmp == nil || tmp.Mode != 0o1777 {
		t.Errorf("/tmp: %v, want a folder that everyone may write", tmp)
	}
}

func TestSameInputsMakeTheSameArchive(t *testing.T) {
	program := programFile(t)
	var archives [][]byte
	for range 2 {
		made, err := programImage(t.TempDir(), "example.test/program:v1", program, "program", nonRoot)
		if err != nil {
			t.Fatal(err)
		}
		archives = append(archives, archiveOf(t, made))
	}
	if !bytes.Equal(archives[0], archives[1]) {
		t.Error("two archives of the same program differ")
	}
}

func TestALayerThatImagesShareIsWrittenOnce(t *testing.T) {
	made, err := programImage(t.TempDir(), "example.test/program:v1", programFile(t), "program", nonRoot)
	if err != nil {
		t.Fatal(err)
	}
	other := made
	other.name = "example.test/other:v1"
	reader, layers := tar.NewReader(bytes.NewReader(archiveOf(t, made, other))), 0
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(header.Name) == ".tar" {
			layers++
		}
	}
	if layers != 1 {
		t.Errorf("%d layers in the archive, want 1", layers)
	}
}
