package kind

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
)

// dockerClient runs the docker command against one daemon.
type dockerClient struct {
	// host is the daemon's address, "" for the one that docker itself would choose.
	host string
}

func (d dockerClient) command(ctx context.Context, args ...string) *exec.Cmd {
	return d.toolCommand(ctx, "docker", args...)
}

// toolCommand runs a program that itself calls docker.
func (d dockerClient) toolCommand(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := command(ctx, name, args...)
	if d.host != "" {
		cmd.Env = append(cmd.Env, "DOCKER_HOST="+d.host)
	}
	return cmd
}

func (d dockerClient) answers(ctx context.Context) bool {
	_, err := output(d.command(ctx, "version", "--format", "{{.Server.Version}}"))
	return err == nil
}

func (d dockerClient) hasImage(ctx context.Context, name string) bool {
	_, err := output(d.command(ctx, "image", "inspect", "--format", "{{.Id}}", name))
	return err == nil
}

// usesCgroupV1 tells which control groups the daemon's machine has.
func (d dockerClient) usesCgroupV1(ctx context.Context) (bool, error) {
	version, err := output(d.command(ctx, "info", "--format", "{{.CgroupVersion}}"))
	return strings.TrimSpace(version) == "1", err
}

// nodes lists the containers of a kind cluster, of every cluster if cluster is "".
func (d dockerClient) nodes(ctx context.Context, cluster string) ([]string, error) {
	label := "io.x-k8s.kind.cluster"
	if cluster != "" {
		label += "=" + cluster
	}
	ids, err := output(d.command(ctx, "ps", "--all", "--quiet", "--no-trunc", "--filter", "label="+label))
	return strings.Fields(ids), err
}

// remove removes containers with their volumes, running or not.
func (d dockerClient) remove(ctx context.Context, containers []string) error {
	if len(containers) == 0 {
		return nil
	}
	_, err := output(d.command(ctx, append([]string{"rm", "--force", "--volumes"}, containers...)...))
	return err
}

// removeOtherImages removes the images of a repository but one, since each is large. One
// that a container uses stays.
func (d dockerClient) removeOtherImages(ctx context.Context, repository, keep string) error {
	names, err := output(d.command(ctx, "image", "ls", "--format", "{{.Repository}}:{{.Tag}}", repository))
	if err != nil {
		return fmt.Errorf("list images of %s: %w", repository, err)
	}
	for _, name := range strings.Fields(names) {
		if name != keep {
			_, _ = output(d.command(ctx, "image", "rm", name))
		}
	}
	return nil
}

// removeKindNetwork removes the network that kind has made, whose bridge would otherwise
// stay behind as an interface of the machine.
func (d dockerClient) removeKindNetwork(ctx context.Context) error {
	networks, err := output(d.command(ctx, "network", "ls", "--quiet", "--filter", "name=^kind$"))
	if err == nil && networks != "" {
		_, err = output(d.command(ctx, append([]string{"network", "rm"}, strings.Fields(networks)...)...))
	}
	if err != nil {
		return fmt.Errorf("remove the network of kind: %w", err)
	}
	return nil
}
