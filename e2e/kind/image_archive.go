package kind

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// layerEntry is a file, folder or symbolic link of an image layer.
type layerEntry struct {
	// Path is where it lies in the container, without the leading slash.
	Path string
	Mode int64
	// One of these says what it is; none of them makes an empty folder.
	Source  string
	Content []byte
	Link    string
}

// container says how a container of an image starts.
type container struct {
	Entrypoint []string `json:",omitempty"`
	Env        []string `json:",omitempty"`
	User       string   `json:",omitempty"`
	StopSignal string   `json:",omitempty"`
}

// layer is a tar file and the digest of its content.
type layer struct {
	path   string
	digest string
}

// image is what an archive holds under one name.
type image struct {
	name      string
	layers    []layer
	container container
}

// Image archives are written here and not with a library: the format that both
// "docker load" and "ctr images import" read is a tar file of three kinds of files.

// writeLayer writes the entries into a tar file that depends on nothing but them.
func writeLayer(path string, entries []layerEntry) (layer, error) {
	file, err := os.Create(path)
	if err != nil {
		return layer{}, fmt.Errorf("write layer: %w", err)
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	archive := tar.NewWriter(io.MultiWriter(file, sum))
	for _, entry := range entries {
		if err := writeEntry(archive, entry); err != nil {
			return layer{}, fmt.Errorf("write layer entry %s: %w", entry.Path, err)
		}
	}
	if err := archive.Close(); err != nil {
		return layer{}, fmt.Errorf("write layer: %w", err)
	}
	return layer{path: path, digest: digest(sum)}, file.Close()
}

func writeEntry(archive *tar.Writer, entry layerEntry) error {
	header := &tar.Header{Name: entry.Path, Mode: entry.Mode, ModTime: time.Unix(0, 0), Format: tar.FormatPAX}
	switch {
	case entry.Link != "":
		header.Typeflag, header.Linkname, header.Mode = tar.TypeSymlink, entry.Link, 0o777
		return archive.WriteHeader(header)
	case entry.Source != "":
		return writeFileEntry(archive, header, entry.Source)
	case entry.Content != nil:
		header.Typeflag, header.Size = tar.TypeReg, int64(len(entry.Content))
		if err := archive.WriteHeader(header); err != nil {
			return err
		}
		_, err := archive.Write(entry.Content)
		return err
	default:
		header.Typeflag, header.Name = tar.TypeDir, entry.Path+"/"
		return archive.WriteHeader(header)
	}
}

func writeFileEntry(archive *tar.Writer, header *tar.Header, path string) error {
	source, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	header.Typeflag, header.Size = tar.TypeReg, info.Size()
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	_, err = io.Copy(archive, source)
	return err
}

// readLayer makes a layer of a tar file that exists.
func readLayer(path string) (layer, error) {
	file, err := os.Open(path)
	if err != nil {
		return layer{}, fmt.Errorf("read layer: %w", err)
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return layer{}, fmt.Errorf("read layer: %w", err)
	}
	return layer{path: path, digest: digest(sum)}, nil
}

func digest(sum hash.Hash) string { return hex.EncodeToString(sum.Sum(nil)) }

// writeImages writes an archive of images.
func writeImages(w io.Writer, images ...image) error {
	archive := tar.NewWriter(w)
	type manifestEntry struct {
		Config   string
		RepoTags []string
		Layers   []string
	}
	var manifest []manifestEntry
	written := map[string]bool{}
	for _, image := range images {
		config, err := json.Marshal(imageConfig(image))
		if err != nil {
			return fmt.Errorf("write image %s: %w", image.name, err)
		}
		sum := sha256.Sum256(config)
		entry := manifestEntry{Config: hex.EncodeToString(sum[:]) + ".json", RepoTags: []string{image.name}}
		files := []layerEntry{{Path: entry.Config, Mode: 0o644, Content: config}}
		for _, layer := range image.layers {
			name := layer.digest + ".tar"
			entry.Layers = append(entry.Layers, name)
			files = append(files, layerEntry{Path: name, Mode: 0o644, Source: layer.path})
		}
		manifest = append(manifest, entry)
		for _, file := range files {
			if written[file.Path] {
				continue
			}
			written[file.Path] = true
			if err := writeEntry(archive, file); err != nil {
				return fmt.Errorf("write image %s: %w", image.name, err)
			}
		}
	}
	content, err := json.Marshal(manifest)
	if err != nil {
		return fmt.Errorf("write image manifest: %w", err)
	}
	if err := writeEntry(archive, layerEntry{Path: "manifest.json", Mode: 0o644, Content: content}); err != nil {
		return fmt.Errorf("write image manifest: %w", err)
	}
	if err := archive.Close(); err != nil {
		return fmt.Errorf("write images: %w", err)
	}
	return nil
}

func imageConfig(image image) any {
	type rootFS struct {
		Type    string   `json:"type"`
		DiffIDs []string `json:"diff_ids"`
	}
	config := struct {
		Created      time.Time `json:"created"`
		Architecture string    `json:"architecture"`
		OS           string    `json:"os"`
		Config       container `json:"config"`
		RootFS       rootFS    `json:"rootfs"`
	}{Created: time.Unix(0, 0).UTC(), Architecture: runtime.GOARCH, OS: "linux", Config: image.container}
	config.RootFS.Type = "layers"
	for _, layer := range image.layers {
		config.RootFS.DiffIDs = append(config.RootFS.DiffIDs, "sha256:"+layer.digest)
	}
	return config
}

// programImage makes an image of one static program, written into dir.
func programImage(dir, name, binary, entrypoint, user string) (image, error) {
	programLayer, err := writeLayer(filepath.Join(dir, entrypoint+".tar"), []layerEntry{
		{Path: "tmp", Mode: 0o1777},
		{Path: "usr", Mode: 0o755},
		{Path: "usr/local", Mode: 0o755},
		{Path: "usr/local/bin", Mode: 0o755},
		{Path: "usr/local/bin/" + entrypoint, Mode: 0o755, Source: binary},
	})
	if err != nil {
		return image{}, fmt.Errorf("make image %s: %w", name, err)
	}
	return image{name: name, layers: []layer{programLayer}, container: container{
		Entrypoint: []string{"/usr/local/bin/" + entrypoint},
		Env:        []string{"PATH=/usr/local/bin"},
		User:       user,
	}}, nil
}
