package kind

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/cozystack/gitops-operator/e2e/programs"
)

// controlPlanePrograms run as containers of the node.
var controlPlanePrograms = []string{"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "coredns"}

// controlPlane is the archive of the images that kubeadm's manifests name.
type controlPlane struct {
	kubernetesVersion string
	archive           string
	pause             string // name of the image that holds a pod's namespaces
}

// controlPlaneImages makes the images under exactly the names by which kubeadm asks for
// them, so that nothing is pulled. CoreDNS comes from a manifest of our own.
func controlPlaneImages(ctx context.Context, dir string, binaries map[string]string) (controlPlane, error) {
	version, err := programs.Version("kubelet")
	if err != nil {
		return controlPlane{}, err
	}
	names, err := output(command(ctx, binaries["kubeadm"], "config", "images", "list", "--kubernetes-version", version))
	if err != nil {
		return controlPlane{}, fmt.Errorf("list control plane images: %w", err)
	}
	pause, err := buildOwn(ctx, "kind/pause", dir)
	if err != nil {
		return controlPlane{}, err
	}
	made := controlPlane{kubernetesVersion: version, archive: filepath.Join(dir, "control-plane.tar")}
	var images []image
	for _, name := range strings.Fields(names) {
		program, _, _ := strings.Cut(path.Base(name), ":")
		binary := binaries[program]
		switch program {
		case "pause":
			binary, made.pause = pause, name
		case "kube-proxy":
			// It runs as a service of the node, which has nft, where an image of one program has not.
			continue
		case "coredns":
			if name, err = programImageName("coredns"); err != nil {
				return controlPlane{}, err
			}
		}
		if binary == "" {
			return controlPlane{}, fmt.Errorf("make control plane image %s: no program %s", name, program)
		}
		// As root: etcd and the API server read files that only root may.
		image, err := programImage(dir, name, binary, program, "0:0")
		if err != nil {
			return controlPlane{}, err
		}
		images = append(images, image)
	}
	file, err := os.Create(made.archive)
	if err != nil {
		return controlPlane{}, fmt.Errorf("write control plane images: %w", err)
	}
	defer func() { _ = file.Close() }()
	if err := writeImages(file, images...); err != nil {
		return controlPlane{}, err
	}
	return made, file.Close()
}
