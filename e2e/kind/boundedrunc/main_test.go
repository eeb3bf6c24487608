package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/cozystack/gitops-operator/e2e/kind/capability"
)

var missing = map[string]bool{capability.SysResource: true}

func readJSON(t *testing.T, path string) map[string]any {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var document map[string]any
	if err := json.Unmarshal(content, &document); err != nil {
		t.Fatal(err)
	}
	return document
}

func TestAMissingCapabilityIsTakenOutOfANewContainer(t *testing.T) {
	bundle := t.TempDir()
	config := filepath.Join(bundle, "config.json")
	spec := `{"ociVersion":"1.0.2","process":{"oomScoreAdj":-999,"capabilities":{
		"bounding":["CAP_CHOWN","CAP_SYS_RESOURCE"],"effective":["CAP_SYS_RESOURCE"]}},"linux":{"resources":{"memory":{"limit":9223372036854775807}}}}`
	if err := os.WriteFile(config, []byte(spec), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := edit(parse([]string{"--root", "/run/x", "create", "--bundle", bundle, "run"}), missing); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"oomScoreAdj": 0.0, "capabilities": map[string]any{"bounding": []any{"CAP_CHOWN"}, "effective": []any{}}}
	if process := readJSON(t, config)["process"]; !reflect.DeepEqual(process, want) {
		t.Errorf("process: %v, want %v", process, want)
	}
	content, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(content) || !strings.Contains(string(content), "9223372036854775807") {
		t.Errorf("a large number changed: %s", content)
	}
}

func TestAMissingCapabilityIsTakenOutOfAProcessInAContainer(t *testing.T) {
	process := filepath.Join(t.TempDir(), "process.json")
	if err := os.WriteFile(process, []byte(`{"args":["true"],"capabilities":{"permitted":["CAP_SYS_RESOURCE","CAP_KILL"]}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := edit(parse([]string{"exec", "--process=" + process, "id"}), missing); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"permitted": []any{"CAP_KILL"}}
	if got := readJSON(t, process)["capabilities"]; !reflect.DeepEqual(got, want) {
		t.Errorf("capabilities: %v, want %v", got, want)
	}
}

func TestOtherCommandsTouchNothing(t *testing.T) {
	for _, args := range [][]string{{"--version"}, {"state", "id"}, {"delete", "--force", "id"}, {"kill", "id", "KILL"}} {
		if err := edit(parse(args), missing); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
}
