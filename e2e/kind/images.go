package kind

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cozystack/gitops-operator/e2e/programs"
)

// imageRegistry is the invented host of the images made here: the domain "test" belongs
// to nobody, so nothing can be pulled from it by mistake.
const imageRegistry = "gitops-operator.test"

// nonRoot is the user as whom a program of LoadBinaryImage runs unless its pod says
// otherwise; a number, so that runAsNonRoot can check it.
const nonRoot = "65532:65532"

// ProgramImage is the name of the image of a program of e2e/programs, at its pinned version.
func ProgramImage(name string) (string, error) { return programImageName(name) }

func programImageName(name string) (string, error) {
	version, err := programs.Version(name)
	return imageRegistry + "/" + name + ":" + version, err
}

// LoadProgramImage builds a program of e2e/programs and loads an image of it, whose name
// it returns.
func (c *Cluster) LoadProgramImage(ctx context.Context, program string) (string, error) {
	name, err := programImageName(program)
	if err != nil {
		return "", err
	}
	binary, err := programs.Path(ctx, program)
	if err != nil {
		return "", err
	}
	return name, c.LoadBinaryImage(ctx, name, binary, program)
}

// LoadBinaryImage makes an image of one static program, which is its entrypoint under
// the name given, and loads it into the node. The image has nothing else but /tmp, and
// runs as a user that is not root. Pods that use it need imagePullPolicy IfNotPresent
// or Never, since no registry has it.
func (c *Cluster) LoadBinaryImage(ctx context.Context, name, binaryPath, entrypointName string) error {
	dir, remove, err := workFolder(c.cache)
	if err != nil {
		return err
	}
	defer remove()
	made, err := programImage(dir, name, binaryPath, entrypointName, nonRoot)
	if err != nil {
		return err
	}
	archive := filepath.Join(dir, "image.tar")
	file, err := os.Create(archive)
	if err != nil {
		return fmt.Errorf("load image %s: %w", name, err)
	}
	defer func() { _ = file.Close() }()
	if err := writeImages(file, made); err != nil {
		return err
	}
	if _, err := file.Seek(0, 0); err != nil {
		return fmt.Errorf("load image %s: %w", name, err)
	}
	cmd := c.docker.command(ctx, "exec", "--interactive", c.node, "ctr", "--namespace=k8s.io", "images", "import", "-")
	cmd.Stdin = file
	if _, err := output(cmd); err != nil {
		return fmt.Errorf("load image %s: %w", name, err)
	}
	return nil
}
