package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cozystack/gitops-operator/internal/check"
)

// TestCheckSaysByItsCodeWhatItFound goes through what it may end with.
func TestCheckSaysByItsCodeWhatItFound(t *testing.T) {
	trees := map[string]string{
		"good":    "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
		"wrong":   "apiVersion: gitops.cozystack.io/v1alpha1\nkind: Other\nmetadata: {name: a}\n",
		"warning": "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {a: b}\n",
	}
	dir := t.TempDir()
	for name, content := range trees {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "a.yaml"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		args   []string
		code   int
		prints string
	}{
		{[]string{"good"}, 0, ""},
		{[]string{"wrong"}, exitFound, "a.yaml:2: error: "},
		{[]string{"--root", ".", "wrong"}, exitFound, "wrong/a.yaml:2: error: "},
		{[]string{"warning"}, 0, "a.yaml:1: warning: "},
		{[]string{"--strict", "warning"}, exitFound, "a.yaml:1: warning: "},
		{[]string{"--tenant", "good"}, exitFound, "ConfigMap is refused"},
		{[]string{"absent"}, exitUsage, ""},
		{[]string{"good", "wrong"}, exitUsage, ""},
		{[]string{}, exitUsage, ""},
		{[]string{"-o", "yaml", "good"}, exitUsage, ""},
		{[]string{"--packages", "absent", "good"}, exitUsage, ""},
		{[]string{"--other", "good"}, exitUsage, ""},
		{[]string{"--help"}, 0, ""},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			t.Chdir(dir)
			var out, diagnostics bytes.Buffer
			err := runCheck(test.args, &out, &diagnostics)
			code := 0
			var exit exitError
			if errors.As(err, &exit) {
				code = exit.code
			} else if err != nil {
				t.Fatal(err)
			}
			if code != test.code || !strings.Contains(out.String(), test.prints) || test.prints == "" && out.Len() > 0 {
				t.Errorf("it ended with %d (%v) and %q, %q; want %d and %q", code, err, &out, &diagnostics, test.code, test.prints)
			}
			if code == exitUsage && exit.text == "" {
				t.Error("nobody is told why")
			}
		})
	}
}

// TestCheckPrintsJSON for those who read it by a program: also where nothing is found.
func TestCheckPrintsJSON(t *testing.T) {
	dir := t.TempDir()
	for _, want := range []int{0, 1} {
		var out bytes.Buffer
		err := runCheck([]string{"-o", "json", dir}, &out, &bytes.Buffer{})
		if (err != nil) != (want > 0) {
			t.Fatal(err)
		}
		var report check.Report
		if err := json.Unmarshal(out.Bytes(), &report); err != nil || report.Findings == nil || len(report.Findings) != want {
			t.Errorf("%s: %v; want %d findings", &out, err, want)
		}
		wrong := "apiVersion: gitops.cozystack.io/v1alpha1\nkind: Other\nmetadata: {name: a}\n"
		if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(wrong), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
