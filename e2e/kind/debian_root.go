package kind

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/cozystack/gitops-operator/e2e/programs"
)

// debianRelease is the node's, whatever the machine's is.
const debianRelease = "bookworm"

// nodePackages are what the node needs from Debian.
var nodePackages = []string{
	"systemd", "systemd-sysv", "kmod", "mount", "procps",
	// For containerd.
	"runc", "containernetworking-plugins",
	// For the kubelet, kube-proxy and the firewall.
	"conntrack", "ethtool", "iproute2", "iptables", "ipset", "nftables",
}

// debianRoot returns the tar file of a Debian with the node's packages, and makes it
// unless the cache has it.
func debianRoot(ctx context.Context, log io.Writer, cache string) (string, error) {
	archive := debianArchive(cache)
	if err := requireDebianRoot(ctx, log, cache); err != nil {
		return "", err
	}
	unlock, err := programs.Lock(ctx, filepath.Join(cache, "debian.lock"))
	if err != nil {
		return "", err
	}
	defer unlock()
	if _, err := os.Stat(archive); err == nil {
		return archive, nil
	}
	dir, remove, err := workFolder(cache)
	if err != nil {
		return "", err
	}
	defer remove()

	fmt.Fprintf(log, "making the node's Debian %s (about two minutes)\n", debianRelease)
	root := filepath.Join(dir, "root")
	args := []string{"--variant=minbase", "--include=" + strings.Join(nodePackages, ","), debianRelease, root}
	if mirror := debianMirror(ctx); mirror != "" {
		args = append(args, mirror)
	}
	if _, err := output(command(ctx, "debootstrap", args...)); err != nil {
		return "", fmt.Errorf("make the node's Debian: %w", err)
	}
	// What only documents or installs packages is a third of it.
	unfinished := filepath.Join(dir, "root.tar")
	if _, err := output(command(ctx, "tar", "--create", "--file", unfinished, "--directory", root, "--numeric-owner",
		"--one-file-system", "--exclude=./var/cache/apt/*", "--exclude=./var/lib/apt/lists/*", "--exclude=./usr/share/doc/*",
		"--exclude=./usr/share/locale/*", "--exclude=./usr/share/man/*", "--exclude=./dev/*", ".")); err != nil {
		return "", fmt.Errorf("pack the node's Debian: %w", err)
	}
	if err := os.Rename(unfinished, archive); err != nil {
		return "", fmt.Errorf("keep the node's Debian: %w", err)
	}
	return archive, nil
}

// requireDebianRoot makes sure that debianRoot can do its work, or has done it.
func requireDebianRoot(ctx context.Context, log io.Writer, cache string) error {
	if _, err := os.Stat(debianArchive(cache)); err == nil {
		return nil
	}
	if os.Geteuid() != 0 {
		return &unavailableError{missing: []string{"a node image"}, hint: "only root can build it; set NODE_IMAGE to use one that Docker can pull"}
	}
	return requirePrograms(ctx, log, map[string]string{"debootstrap": "debootstrap", "tar": "tar"})
}

func debianArchive(cache string) string { return filepath.Join(cache, "debian-"+debianKey()+".tar") }

func debianKey() string {
	sum := sha256.Sum256([]byte(debianRelease + " " + strings.Join(nodePackages, " ")))
	return hex.EncodeToString(sum[:])[:16]
}

// debianMirror returns the address from which this machine takes the node's Debian
// release, "" if it takes none: debootstrap then has its own.
func debianMirror(ctx context.Context) string {
	text, err := output(command(ctx, "apt-get", "indextargets", "--format", "$(RELEASE) $(COMPONENT) $(REPO_URI)", "Identifier: Packages"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] == debianRelease && fields[1] == "main" {
			return fields[2]
		}
	}
	return ""
}
