package packagevalues_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/internal/packages"
)

// sample is an object of the group of Packages, with nothing but its name.
func sample(kind, name string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{}}
	o.SetGroupVersionKind(packages.GroupVersion.WithKind(kind))
	o.SetName(name)
	return o
}

// jsonPatch puts a value at a path of an object, in place of what is there.
func jsonPatch(ctx context.Context, o client.Object, path string, value any) error {
	encoded, err := json.Marshal([]map[string]any{{"op": "add", "path": path, "value": value}})
	if err != nil {
		return err
	}
	return cluster.Client.Patch(ctx, o.DeepCopyObject().(client.Object), client.RawPatch(types.JSONPatchType, encoded))
}

func pick[T any](random *rand.Rand, from []T) T { return from[random.IntN(len(from))] }

// randomMap draws values of a few keys, so that what is laid over others meets them.
func randomMap(random *rand.Rand, depth int) map[string]any {
	drawn := map[string]any{}
	for range random.IntN(4) {
		drawn[pick(random, []string{"a", "b", "dotted.key", "list", "map"})] = randomValue(random, depth)
	}
	return drawn
}

func randomValue(random *rand.Rand, depth int) any {
	switch kind := random.IntN(7); {
	case kind == 0:
		return nil
	case kind == 1 && depth > 0:
		return randomMap(random, depth-1)
	case kind == 2 && depth > 0:
		list := []any{}
		for range random.IntN(3) {
			list = append(list, randomValue(random, depth-1))
		}
		return list
	case kind == 3:
		return fmt.Sprint("text", random.IntN(5))
	case kind == 4:
		return random.IntN(2) == 0
	default:
		return int64(random.IntN(100))
	}
}

// randomOverride draws what a PackageValues has for one component; none contradicts itself.
func randomOverride(random *rand.Rand) map[string]any {
	drawn := map[string]any{"values": randomMap(random, 2)}
	if random.IntN(3) == 0 {
		drawn["unset"] = []any{pick(random, []string{"unset", "other.deep", "gone"})}
	}
	if random.IntN(3) == 0 {
		drawn["listMerge"] = []any{map[string]any{"path": "list", "strategy": "Append"}}
	}
	return drawn
}
