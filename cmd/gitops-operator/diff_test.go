package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDiffSaysByItsCodeWhatItFound compares with a file; e2e compares with a cluster.
func TestDiffSaysByItsCodeWhatItFound(t *testing.T) {
	dir := t.TempDir()
	const values = "apiVersion: cozystack.io/v1alpha1\nkind: PackageValues\nmetadata: {name: acme.web}\nspec: {components: {web: {values: {replicas: "
	for name, content := range map[string]string{
		"same/a.yaml":  values + "1}}}}\n",
		"other/a.yaml": values + "3}}}}\n",
		"wrong/a.yaml": strings.Replace(values, "acme.web", "acme.absent", 1) + "3}}}}\n",
		"packages.yaml": "apiVersion: v1\nkind: List\nitems:\n" +
			"- {apiVersion: cozystack.io/v1alpha1, kind: Package, metadata: {name: acme.web}, spec: {components: {web: {values: {replicas: 1}}}}}\n" +
			"- {apiVersion: cozystack.io/v1alpha1, kind: PackageSource, metadata: {name: acme.web}, spec: {variants: [{name: default, components: [{name: web, install: {namespace: cozy-web}}]}]}}\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		args   []string
		code   int
		prints string
	}{
		{[]string{"same"}, 0, ""},
		{[]string{"other"}, exitFound, "cozy-web/web (component web of acme.web)\n  ~ replicas: 1 -> 3\n"},
		{[]string{"-o", "json", "other"}, exitFound, `"release": "cozy-web/web"`},
		{[]string{"-o", "json", "same"}, 0, "[]"},
		{[]string{"wrong"}, exitUsage, ""},
		{[]string{"absent"}, exitUsage, ""},
		{[]string{}, exitUsage, ""},
		{[]string{"-o", "yaml", "same"}, exitUsage, ""},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			t.Chdir(dir)
			var out, diagnostics bytes.Buffer
			err := runDiff(t.Context(), append([]string{"--packages", "packages.yaml"}, test.args...), &out, &diagnostics)
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
		})
	}
}
