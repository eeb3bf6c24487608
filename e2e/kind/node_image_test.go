package kind

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestFilesOfTheNode(t *testing.T) {
	files, err := renderedNodeFiles(controlPlane{pause: "example.test/pause:v1"})
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]layerEntry{}
	for _, file := range files {
		found[file.Path] = file
	}
	if entrypoint := found["usr/local/bin/entrypoint"]; entrypoint.Mode != 0o755 || !strings.HasPrefix(string(entrypoint.Content), "#!/bin/bash\n") {
		t.Errorf("entrypoint: mode %o, want an executable script", entrypoint.Mode)
	}
	if !strings.Contains(string(found["etc/containerd/config.toml"].Content), "sandbox = 'example.test/pause:v1'") {
		t.Error("containerd's configuration does not name the image for sandboxes")
	}
	for _, unit := range enabledUnits {
		if file := found["etc/systemd/system/"+unit]; file.Mode != 0o644 {
			t.Errorf("unit %s: mode %o, want a file that only root may write", unit, file.Mode)
		}
	}
}

func TestFoldersOfAllEntriesAreEntries(t *testing.T) {
	have := map[string]bool{}
	for _, entry := range withParents([]layerEntry{{Path: "a/b/c", Content: []byte{}}, {Path: "a/d", Content: []byte{}}, {Path: "e", Mode: 0o700}}) {
		if have[entry.Path] {
			t.Errorf("%s is there twice", entry.Path)
		}
		have[entry.Path] = true
	}
	for _, path := range []string{"a", "a/b", "a/b/c", "a/d", "e"} {
		if !have[path] {
			t.Errorf("%s is missing", path)
		}
	}
}

func TestWhatIsMissingIsNamedInOneLine(t *testing.T) {
	err := fmt.Errorf("create cluster: %w", error(&unavailableError{missing: []string{"docker", "debootstrap"}, hint: "only root can install them"}))
	if !errors.Is(err, ErrUnavailable) {
		t.Errorf("%v is not ErrUnavailable", err)
	}
	const want = "create cluster: no kind cluster can be had on this machine: missing docker, debootstrap (only root can install them)"
	if err.Error() != want {
		t.Errorf("error: %q, want %q", err, want)
	}
}

func TestClusterConfigurationOfAMachine(t *testing.T) {
	for _, machine := range []struct {
		name                          string
		ownNodeImage, cgroupV1, lacks bool
		want, unwanted                []string
	}{
		{name: "a machine that lacks nothing, with an image that is pulled", unwanted: []string{"disableDefaultCNI", "failCgroupV1", "KubeletInUserNamespace", "skipPhases"}},
		{name: "our image on cgroup v2", ownNodeImage: true, want: []string{"disableDefaultCNI: true", "kubeProxyMode: none", "addon/coredns"}, unwanted: []string{"failCgroupV1", "KubeletInUserNamespace"}},
		{name: "our image on cgroup v1, a capability missing", ownNodeImage: true, cgroupV1: true, lacks: true, want: []string{"failCgroupV1: false", "KubeletInUserNamespace: true"}},
	} {
		text, err := render("cluster.yaml", map[string]any{"OwnNodeImage": machine.ownNodeImage, "CgroupV1": machine.cgroupV1, "LacksSysResource": machine.lacks})
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range machine.want {
			if !strings.Contains(text, part) {
				t.Errorf("%s: no %q in\n%s", machine.name, part, text)
			}
		}
		for _, part := range machine.unwanted {
			if strings.Contains(text, part) {
				t.Errorf("%s: %q in\n%s", machine.name, part, text)
			}
		}
	}
}
