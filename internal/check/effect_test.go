package check

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
)

const exported = `apiVersion: v1
kind: List
items:
- apiVersion: cozystack.io/v1alpha1
  kind: Package
  metadata: {name: cozystack.monitoring}
  spec:
    components:
      grafana: {values: {replicas: 1, images: [a, b], limits: {cpu: 1}}}
      alerta: {enabled: false, values: {replicas: 1}}
- apiVersion: cozystack.io/v1alpha1
  kind: PackageSource
  metadata: {name: cozystack.monitoring}
  spec:
    variants:
    - name: default
      components:
      - {name: grafana, install: {namespace: cozy-monitoring}}
      - {name: loki, install: {namespace: cozy-monitoring, releaseName: logs}}
      - {name: alerta, install: {namespace: cozy-monitoring}}
      - {name: library}
- apiVersion: cozystack.io/v1alpha1
  kind: PackageValues
  metadata: {name: cozystack.monitoring}
  spec: {components: {loki: {values: {days: 7}}}}
- apiVersion: cozystack.io/v1alpha1
  kind: Package
  metadata: {name: cozystack.cozystack-platform}
  spec: {components: {platform: {values: {host: example.org, bundles: [iaas]}}}}
- apiVersion: cozystack.io/v1alpha1
  kind: PackageSource
  metadata: {name: cozystack.cozystack-platform}
  spec: {variants: [{name: default, components: [{name: platform, install: {namespace: cozy-system}}]}]}
`

// TestEffects compares trees with a cluster.
func TestEffects(t *testing.T) {
	const values = "apiVersion: cozystack.io/v1alpha1\nkind: PackageValues\nmetadata: {name: cozystack.monitoring}\n"
	for name, test := range map[string]struct {
		tree string
		want []string
	}{
		"the same as before": {values + "spec: {components: {loki: {values: {days: 7}}}}", nil},
		"another value, and one less": {values + "spec: {components: {grafana: {values: {replicas: 3}}}}", []string{
			"cozy-monitoring/grafana ~ replicas: 1 -> 3",
			"cozy-monitoring/logs - days: 7",
		}},
		"lists, nulls and new maps": {values + "spec: {components: {loki: {values: {days: 7}}, grafana: {values: {images: [c], limits: null, 'a.b': {c: 1}}}}}", []string{
			`cozy-monitoring/grafana + a\.b: {"c":1}`,
			`cozy-monitoring/grafana ~ images: ["a","b"] -> ["c"]`,
			`cozy-monitoring/grafana ~ limits: {"cpu":1} -> null`,
		}},
		"what has no release": {values + "spec: {components: {loki: {values: {days: 7}}, alerta: {values: {replicas: 9}}, library: {values: {a: 1}}}}", nil},
		"frozen":              {values + "spec: {suspend: true, components: {loki: {values: {days: 9}}}}", nil},
		"the platform's own Package": {"apiVersion: cozystack.io/v1alpha1\nkind: Package\nmetadata: {name: cozystack.cozystack-platform, annotations: {kustomize.toolkit.fluxcd.io/ssa: Merge}}\n" +
			"spec: {components: {platform: {values: {bundles: [paas], new: 1}}}}", []string{
			`cozy-system/platform ~ bundles: ["iaas"] -> ["paas"]`,
			`cozy-system/platform + new: 1`,
		}},
		"a Package of the chart's": {"apiVersion: cozystack.io/v1alpha1\nkind: Package\nmetadata: {name: cozystack.monitoring}\nspec: {components: {grafana: {values: {replicas: 9}}}}", nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "tree/a.yaml", test.tree+"\n")
			write(t, dir, "export.yaml", exported)
			export, err := ReadExport(filepath.Join(dir, "export.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			effects, report, err := Effects(Options{Dir: filepath.Join(dir, "tree"), Export: export})
			if err != nil || Count(report.Findings, Error) > 0 {
				t.Fatalf("%+v: %v", report, err)
			}
			var got []string
			for _, effect := range effects {
				for _, change := range effect.Changes {
					got = append(got, fmt.Sprintf("%s %s", effect.Release, change))
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n%q, want\n%q", got, test.want)
			}
		})
	}
}

// TestNothingIsComparedWhereSomethingIsWrong: what would be refused changes nothing.
func TestNothingIsComparedWhereSomethingIsWrong(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "tree/a.yaml", "apiVersion: cozystack.io/v1alpha1\nkind: PackageValues\nmetadata: {name: cozystack.other}\nspec: {components: {a: {values: {a: 1}}}}\n")
	write(t, dir, "export.yaml", exported)
	export, err := ReadExport(filepath.Join(dir, "export.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	effects, report, err := Effects(Options{Dir: filepath.Join(dir, "tree"), Export: export})
	if err != nil || len(effects) > 0 || Count(report.Findings, Error) != 1 {
		t.Errorf("%+v, %+v: %v", effects, report, err)
	}
}
