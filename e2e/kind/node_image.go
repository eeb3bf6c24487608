package kind

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"text/template"

	"github.com/cozystack/gitops-operator/e2e/programs"
)

// nodeFiles lie in the node where they lie below the folder "node".
//
//go:embed all:node
var nodeFiles embed.FS

// ownSources are what this package's own programs in the node are made of.
//
//go:embed boundedrunc/*.go capability/*.go pause/*.go
var ownSources embed.FS

// nodePrograms says where the node has a program.
var nodePrograms = map[string]string{
	"kubelet":                 "usr/bin/kubelet",
	"kubeadm":                 "usr/bin/kubeadm",
	"kubectl":                 "usr/bin/kubectl",
	"containerd":              "usr/local/bin/containerd",
	"containerd-shim-runc-v2": "usr/local/bin/containerd-shim-runc-v2",
	"ctr":                     "usr/local/bin/ctr",
	"crictl":                  "usr/local/bin/crictl",
	"kube-proxy":              "usr/local/bin/kube-proxy",
	"kube-router":             "usr/local/bin/kube-router",
}

// enabledUnits start with the node.
var enabledUnits = []string{"containerd.service", "node-images.service", "kubelet.service", "kube-proxy.path", "network-policies.path"}

// maskedUnits are for real machines: they wait for devices, or change the kernel that
// the node shares with its host.
var maskedUnits = []string{
	"dev-hugepages.mount", "getty.target", "proc-sys-fs-binfmt_misc.automount", "sys-fs-fuse-connections.mount",
	"sys-kernel-config.mount", "sys-kernel-debug.mount", "sys-kernel-tracing.mount", "systemd-binfmt.service",
	"systemd-firstboot.service", "systemd-logind.service", "systemd-modules-load.service", "systemd-random-seed.service",
	"systemd-repart.service", "systemd-udevd.service", "systemd-udevd-control.socket", "systemd-udevd-kernel.socket",
	"systemd-update-utmp.service",
}

const nodeImageName = imageRegistry + "/kind-node"

// nodeImage makes sure that Docker has the node image, and returns its name.
func nodeImage(ctx context.Context, log io.Writer, docker dockerClient, cache string) (string, error) {
	if given := os.Getenv("NODE_IMAGE"); given != "" {
		if docker.hasImage(ctx, given) {
			return given, nil
		}
		if _, err := output(docker.command(ctx, "pull", given)); err != nil {
			return "", fmt.Errorf("pull node image %s: %w", given, err)
		}
		return given, nil
	}
	binaries, err := nodeBinaries(ctx)
	if err != nil {
		return "", err
	}
	key, err := nodeKey(binaries)
	if err != nil {
		return "", err
	}
	name := nodeImageName + ":" + key
	unlock, err := programs.Lock(ctx, filepath.Join(cache, "node-image.lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if docker.hasImage(ctx, name) {
		return name, nil
	}
	root, err := debianRoot(ctx, log, cache)
	if err != nil {
		return "", err
	}
	fmt.Fprintf(log, "making the node image %s\n", name)
	if err := makeNodeImage(ctx, docker, cache, name, root, binaries); err != nil {
		return "", err
	}
	return name, docker.removeOtherImages(ctx, nodeImageName, name)
}

// nodeBinaries builds every program that the node or its control plane runs.
func nodeBinaries(ctx context.Context) (map[string]string, error) {
	binaries := map[string]string{}
	for name := range nodePrograms {
		binaries[name] = ""
	}
	for _, name := range controlPlanePrograms {
		binaries[name] = ""
	}
	// In the table's order, which is also the order of the progress lines.
	for _, program := range programs.All() {
		if _, wanted := binaries[program.Name]; !wanted {
			continue
		}
		binary, err := programs.Path(ctx, program.Name)
		if err != nil {
			return nil, err
		}
		binaries[program.Name] = binary
	}
	return binaries, nil
}

// nodeKey names a node image by all that it is made of. The path of a cached program
// changes with its content.
func nodeKey(binaries map[string]string) (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, debianKey(), enabledUnits, maskedUnits, nodePrograms)
	var names []string
	for name := range binaries {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Fprintln(sum, name, filepath.Base(filepath.Dir(binaries[name])))
	}
	for _, files := range []embed.FS{nodeFiles, ownSources} {
		err := fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			content, err := files.ReadFile(path)
			fmt.Fprintf(sum, "%s %d\n%s", path, len(content), content)
			return err
		})
		if err != nil {
			return "", fmt.Errorf("name the node image: %w", err)
		}
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], nil
}

func makeNodeImage(ctx context.Context, docker dockerClient, cache, name, root string, binaries map[string]string) error {
	dir, remove, err := workFolder(cache)
	if err != nil {
		return err
	}
	defer remove()
	debian, err := readLayer(root)
	if err != nil {
		return err
	}
	entries, err := nodeEntries(ctx, dir, binaries)
	if err != nil {
		return err
	}
	node, err := writeLayer(filepath.Join(dir, "node.tar"), entries)
	if err != nil {
		return err
	}
	archive := filepath.Join(dir, "image.tar")
	file, err := os.Create(archive)
	if err != nil {
		return fmt.Errorf("write node image: %w", err)
	}
	defer func() { _ = file.Close() }()
	if err := writeImages(file, image{name: name, layers: []layer{debian, node}, container: container{
		Entrypoint: []string{"/usr/local/bin/entrypoint", "/sbin/init"},
		// systemd reads the first one and then leaves to the host what is the host's.
		Env:        []string{"container=docker", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"},
		StopSignal: "SIGRTMIN+3",
	}}); err != nil {
		return err
	}
	if _, err := output(docker.command(ctx, "load", "--quiet", "--input", archive)); err != nil {
		return fmt.Errorf("load node image: %w", err)
	}
	return nil
}

// nodeEntries lists what the node has beyond Debian.
func nodeEntries(ctx context.Context, dir string, binaries map[string]string) ([]layerEntry, error) {
	images, err := controlPlaneImages(ctx, dir, binaries)
	if err != nil {
		return nil, err
	}
	runc, err := buildOwn(ctx, "kind/boundedrunc", dir)
	if err != nil {
		return nil, err
	}
	entries := []layerEntry{
		{Path: "kind", Mode: 0o755},
		// kind reads the version of Kubernetes here.
		{Path: "kind/version", Mode: 0o644, Content: []byte(images.kubernetesVersion + "\n")},
		{Path: "kind/images", Mode: 0o755},
		{Path: "kind/images/control-plane.tar", Mode: 0o644, Source: images.archive},
		{Path: "etc/kubernetes/manifests", Mode: 0o755},
		{Path: "etc/systemd/system/default.target", Link: "/lib/systemd/system/multi-user.target"},
		// Found before Debian's own.
		{Path: "usr/local/sbin/runc", Mode: 0o755, Source: runc},
	}
	for name, path := range nodePrograms {
		entries = append(entries, layerEntry{Path: path, Mode: 0o755, Source: binaries[name]})
	}
	for _, unit := range enabledUnits {
		entries = append(entries, layerEntry{Path: "etc/systemd/system/multi-user.target.wants/" + unit, Link: "/etc/systemd/system/" + unit})
	}
	for _, unit := range maskedUnits {
		entries = append(entries, layerEntry{Path: "etc/systemd/system/" + unit, Link: "/dev/null"})
	}
	files, err := renderedNodeFiles(images)
	if err != nil {
		return nil, err
	}
	entries = withParents(append(entries, files...))
	sort.Slice(entries, func(i, j int) bool { return entries[i].Path < entries[j].Path })
	return entries, nil
}

// withParents adds the folders in which the entries lie: left to itself, Docker makes
// those that are new for its own eyes only.
func withParents(entries []layerEntry) []layerEntry {
	known := map[string]bool{".": true}
	for _, entry := range entries {
		known[entry.Path] = true
	}
	for _, entry := range entries {
		for parent := path.Dir(entry.Path); !known[parent]; parent = path.Dir(parent) {
			known[parent] = true
			entries = append(entries, layerEntry{Path: parent, Mode: 0o755})
		}
	}
	return entries
}

// renderedNodeFiles returns the files of the folder "node"; those in a folder called
// "bin" are programs.
func renderedNodeFiles(images controlPlane) ([]layerEntry, error) {
	var entries []layerEntry
	err := fs.WalkDir(nodeFiles, "node", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := nodeFiles.ReadFile(name)
		if err != nil {
			return err
		}
		content := text
		if strings.HasSuffix(name, ".toml") {
			parsed, err := template.New(name).Parse(string(text))
			if err != nil {
				return err
			}
			var rendered bytes.Buffer
			if err := parsed.Execute(&rendered, struct{ PauseImage string }{images.pause}); err != nil {
				return err
			}
			content = rendered.Bytes()
		}
		mode := int64(0o644)
		if path.Base(path.Dir(name)) == "bin" {
			mode = 0o755
		}
		entries = append(entries, layerEntry{Path: strings.TrimPrefix(name, "node/"), Mode: mode, Content: content})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("render the node's files: %w", err)
	}
	return entries, nil
}
