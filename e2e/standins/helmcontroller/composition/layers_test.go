package composition_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/chartutil"
	"github.com/go-logr/logr"
	"helm.sh/helm/v4/pkg/chart/common/util"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/internal/merge"
)

// layers are what a chart's values come from, the lowest first.
type layers struct {
	// defaults of the chart, and of one that it depends on.
	defaults, dependency map[string]any
	// platform is what the platform hands to all charts.
	platform map[string]any
	// values of the Package and of the override, as JSON.
	values, override []byte
}

// TestHelmComposesTheSame has values as "helm upgrade" gets them from two files.
func TestHelmComposesTheSame(t *testing.T) {
	play(t, false, func(t *testing.T, l layers, merged []byte) (got, want map[string]any) {
		return decode(t, merged), loader.MergeMaps(decode(t, l.values), decode(t, l.override))
	})
}

// TestFluxComposesTheSame has values as helm-controller gets them from a HelmRelease and
// what that refers to.
func TestFluxComposesTheSame(t *testing.T) {
	play(t, false, func(t *testing.T, l layers, merged []byte) (got, want map[string]any) {
		return flux(t, merged), flux(t, l.override, l.values)
	})
}

// TestFluxComposesTheSameOverThePlatformsValues has a third layer below. There a key holds
// maps in all layers or in none: a map that replaces a scalar does not know, once merged,
// that it is to replace a map below as well.
func TestFluxComposesTheSameOverThePlatformsValues(t *testing.T) {
	play(t, true, func(t *testing.T, l layers, merged []byte) (got, want map[string]any) {
		platform, err := json.Marshal(l.platform)
		if err != nil {
			t.Fatal(err)
		}
		return flux(t, merged, platform), flux(t, l.override, platform, l.values)
	})
}

// TestUnsetPathRemovesADefault has a path in unset do what a null does, where neither the
// Package nor the override has anything near.
func TestUnsetPathRemovesADefault(t *testing.T) {
	unset, err := merge.ParsePath(`nodeSelector.kubernetes\.io/arch`)
	if err != nil {
		t.Fatal(err)
	}
	result, err := merge.Merge(nil, merge.Override{Unset: []merge.Path{unset}})
	if err != nil {
		t.Fatal(err)
	}
	l := layers{defaults: map[string]any{"nodeSelector": map[string]any{"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux"}}}
	seen := l.coalesce(t, flux(t, result.Values))
	if want := map[string]any{"kubernetes.io/os": "linux"}; !reflect.DeepEqual(seen["nodeSelector"], want) {
		t.Errorf("the chart sees %v, want %v", seen["nodeSelector"], want)
	}
}

// play draws layers, and compares what the chart sees of them.
func play(t *testing.T, byShape bool, compose func(t *testing.T, l layers, merged []byte) (got, want map[string]any)) {
	t.Helper()
	// Helm warns of tables in other tables' places.
	before := log.Writer()
	log.SetOutput(io.Discard)
	t.Cleanup(func() { log.SetOutput(before) })
	overrides, removes := 0, 0
	for seed := range uint64(400) {
		d := draw{Rand: rand.New(rand.NewPCG(seed, 17)), byShape: byShape}
		l := layers{
			defaults: d.mapping(3), dependency: d.mapping(2), platform: d.mapping(2),
			values: d.document(), override: d.document(),
		}
		result, err := merge.Merge(l.values, merge.Override{Values: l.override})
		if err != nil {
			t.Fatal(err)
		}
		got, want := compose(t, l, result.Values)
		seen, wanted := l.coalesce(t, got), l.coalesce(t, want)
		if !reflect.DeepEqual(seen, wanted) {
			t.Fatalf("seed %d: %s over\n%s and the defaults\n%v is\n%v, want\n%v", seed, l.override, l.values, l.defaults, seen, wanted)
		}
		without := l.coalesce(t, decode(t, l.values))
		if !reflect.DeepEqual(seen, without) {
			overrides++
		}
		for key, value := range decode(t, l.override) {
			if _, stays := seen[key]; value == nil && l.defaults[key] != nil && !stays {
				removes++
				break
			}
		}
	}
	if overrides < 200 || removes < 20 {
		t.Errorf("of 400 overrides %d change what the chart sees, and %d remove a default: the draw is too tame", overrides, removes)
	}
}

// coalesce is what the chart sees.
func (l layers) coalesce(t *testing.T, values map[string]any) map[string]any {
	t.Helper()
	described := func(name string, defaults map[string]any) *chart.Chart {
		return &chart.Chart{Metadata: &chart.Metadata{APIVersion: "v2", Name: name, Version: "1.0.0"}, Values: defaults}
	}
	whole := described("acme", l.defaults)
	whole.AddDependency(described("dependency", l.dependency))
	seen, err := util.CoalesceValues(whole, values)
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

// flux composes values of a HelmRelease with those that it refers to, the lowest first.
func flux(t *testing.T, own []byte, referred ...[]byte) map[string]any {
	t.Helper()
	served := stored{values: map[string][]byte{}}
	var references []meta.ValuesReference
	for i, values := range referred {
		name := fmt.Sprintf("layer-%d", i)
		served.values[name] = values
		references = append(references, meta.ValuesReference{Kind: "Secret", Name: name})
	}
	composed, err := chartutil.ChartValuesFromReferences(context.Background(), logr.Discard(), served, "tenant-acme", decode(t, own), references...)
	if err != nil {
		t.Fatal(err)
	}
	return composed
}

// stored are the values.yaml of Secrets, of which nothing but reading is asked.
type stored struct {
	client.Client
	values map[string][]byte
}

func (s stored) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	object.(*corev1.Secret).Data = map[string][]byte{"values.yaml": s.values[key.Name]}
	return nil
}

func decode(t *testing.T, text []byte) map[string]any {
	t.Helper()
	content := map[string]any{}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &content); err != nil {
			t.Fatal(err)
		}
	}
	return content
}

// draw makes values from few keys, so that layers meet.
type draw struct {
	*rand.Rand
	// byShape has a key hold maps always or never.
	byShape bool
}

var (
	mapKeys   = []string{"dependency", "global", "m", "n.o"}
	otherKeys = []string{"a", "b", "c", "d", "kubernetes.io/arch"}
)

func (d draw) mapping(depth int) map[string]any {
	content := map[string]any{}
	for _, key := range slices.Concat(mapKeys, otherKeys) {
		if d.IntN(2) == 0 {
			continue
		}
		isMap := slices.Contains(mapKeys, key)
		// Helm has maps only at these two.
		if !d.byShape && d.IntN(4) == 0 && key != "dependency" && key != "global" {
			isMap = !isMap
		}
		switch {
		case !isMap:
			content[key] = d.other()
		case depth > 0:
			content[key] = d.mapping(depth - 1)
		default:
			content[key] = map[string]any{}
		}
	}
	return content
}

func (d draw) other() any {
	return []any{
		nil, nil, true, false, 0, 1, 1.5, 1e21, 10000000000000001, "", "a", "null", "é", []any{}, []any{1, "a", nil},
		[]any{map[string]any{"name": "x", "a": nil}}, []any{[]any{}},
	}[d.IntN(17)]
}

// document is absent at times.
func (d draw) document() []byte {
	if d.IntN(20) == 0 {
		return nil
	}
	text, err := json.Marshal(d.mapping(3))
	if err != nil {
		panic(err)
	}
	return text
}
