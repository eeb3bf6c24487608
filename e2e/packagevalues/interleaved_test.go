package packagevalues_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

const (
	interleavedRounds  = 5
	interleavedUpdates = 1000
)

var interleavedComponents = []string{"api", "db", "web"}

// TestUpdatesInAnyOrderEndInTheSame: whoever writes what and when, a release ends with what
// the Package and the PackageValues of now make together, and then nobody writes any more.
func TestUpdatesInAnyOrderEndInTheSame(t *testing.T) {
	t.Parallel()
	operator.AwaitReady(t)
	const name = "interleaved"
	newComponents(t, name, map[string]string{"api": "{a: 1}", "db": "", "web": "{a: 1, list: [1]}"})
	seed := uint64(time.Now().UnixNano())
	t.Logf("the seed is %d", seed)
	began := time.Now()
	told := watchForNotStored(t, name)
	var changes atomic.Int64
	for round := range interleavedRounds {
		var group sync.WaitGroup
		for i, write := range interleavedWriters(name) {
			random := rand.New(rand.NewPCG(seed, uint64(round*100+i)))
			group.Go(func() {
				for range interleavedUpdates / interleavedRounds / len(interleavedWriters(name)) {
					changes.Add(1)
					if err := write(t.Context(), random); err != nil && !passes(err) {
						t.Errorf("seed %d: %v", seed, err)
					}
				}
			})
		}
		group.Wait()
		quiet := time.Now()
		for _, component := range interleavedComponents {
			harness.Await(t, fmt.Sprintf("round %d, seed %d: %s to be as computed", round, seed, component), func(ctx context.Context) (bool, string) {
				return agrees(ctx, name, component)
			})
		}
		t.Logf("round %d: as computed %s after the last update", round, time.Since(quiet).Round(time.Millisecond))
	}
	if changes.Load() != interleavedUpdates {
		t.Errorf("%d updates, want %d", changes.Load(), interleavedUpdates)
	}
	wantFewWrites(t, name, began)
	wantQuiet(t, name, interleavedComponents...)
	for _, component := range interleavedComponents {
		if agrees, seen := agrees(t.Context(), name, component); !agrees {
			t.Error(seen)
		}
	}
	told()
}

// interleavedWriters change what the test is about, each in a way of its own.
func interleavedWriters(name string) []func(context.Context, *rand.Rand) error {
	pkg, values := sample("Package", name), sample("PackageValues", name)
	return []func(context.Context, *rand.Rand) error{
		// The platform's chart, or an admin, changes the Package.
		func(ctx context.Context, random *rand.Rand) error {
			return jsonPatch(ctx, pkg, "/spec/components/"+pick(random, interleavedComponents), map[string]any{"values": randomMap(random, 2)})
		},
		// helm-controller tells how far it has come.
		func(ctx context.Context, random *rand.Rand) error {
			release := componentOf(name, pick(random, interleavedComponents))
			status := fmt.Sprintf(`{"status":{"lastAttemptedRevision":"1.0.%d"}}`, random.IntN(1000))
			return cluster.Client.Status().Patch(ctx, release, client.RawPatch(types.MergePatchType, []byte(status)))
		},
		// An admin changes the PackageValues, takes it away or puts it back.
		func(ctx context.Context, random *rand.Rand) error {
			switch random.IntN(6) {
			case 0:
				return cluster.Client.Delete(ctx, values)
			case 1, 2:
				fresh := sample("PackageValues", name)
				fresh.Object["spec"] = map[string]any{"components": map[string]any{pick(random, interleavedComponents): randomOverride(random)}}
				return cluster.Client.Create(ctx, fresh)
			case 3:
				only := map[string]any{pick(random, interleavedComponents): randomOverride(random)}
				return jsonPatch(ctx, values, "/spec/components", only)
			default:
				return jsonPatch(ctx, values, "/spec/components/"+pick(random, interleavedComponents), randomOverride(random))
			}
		},
		// People write what is not theirs: values, our label, and labels of their own.
		func(ctx context.Context, random *rand.Rand) error {
			release := componentOf(name, pick(random, interleavedComponents))
			content := map[string]any{}
			switch random.IntN(5) {
			case 0:
				content["spec"] = map[string]any{"values": randomMap(random, 2)}
			case 1:
				content["metadata"] = map[string]any{"labels": map[string]any{"gitops.cozystack.io/values-overridden": nil}}
			case 2:
				content["metadata"] = map[string]any{"labels": map[string]any{"gitops.cozystack.io/values-overridden": pick(random, []string{"true", "no", ""})}}
			case 3:
				content["metadata"] = map[string]any{"labels": map[string]any{"example.org/own": fmt.Sprint(random.IntN(9))}}
			default:
				content["metadata"] = map[string]any{"annotations": map[string]any{"reconcile.fluxcd.io/requestedAt": fmt.Sprint(random.IntN(99))}}
			}
			encoded, err := json.Marshal(content)
			if err != nil {
				return err
			}
			return cluster.Client.Patch(ctx, release, client.RawPatch(types.MergePatchType, encoded))
		},
		// Somebody reads a release, and writes it as a whole a little later.
		func(ctx context.Context, random *rand.Rand) error {
			release := componentOf(name, pick(random, interleavedComponents))
			if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(release), release); err != nil {
				return err
			}
			labels := release.GetLabels()
			delete(labels, "gitops.cozystack.io/values-overridden")
			release.SetLabels(labels)
			release.Object["spec"].(map[string]any)["values"] = randomMap(random, 1)
			if random.IntN(2) == 0 {
				// Whatever has come between.
				fresh := componentOf(name, release.GetName())
				if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(fresh), fresh); err != nil {
					return err
				}
				release.SetResourceVersion(fresh.GetResourceVersion())
			}
			return cluster.Client.Update(ctx, release)
		},
	}
}

// passes says whether an error is one of writers who meet, or of what was just taken away.
func passes(err error) bool {
	return apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err)
}

// wantFewWrites bounds what all of it has cost.
func wantFewWrites(t *testing.T, name string, since time.Time) {
	t.Helper()
	users := map[string]int{}
	wrote, err := cluster.Writes(since, func(w embedded.Write) bool {
		return w.Stored() && (w.Name == name && w.Group == "cozystack.io" || w.Namespace == "cozy-"+name && w.Resource == "helmreleases")
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range wrote {
		users[fmt.Sprintf("%s %s/%s", w.User, w.Resource, w.Subresource)]++
	}
	t.Logf("writes, refused ones included: %v", users)
	// One pass for each event, and an event for each write that changes something: none of
	// ours is for a write of ours.
	if ours := users[ownAccount+" helmreleases/"]; ours > interleavedUpdates {
		t.Errorf("the operator wrote releases %d times for %d updates", ours, interleavedUpdates)
	}
	if told := users[ownAccount+" packagevalues/status"]; told > 4*interleavedUpdates {
		t.Errorf("the operator wrote the status %d times for %d updates", told, interleavedUpdates)
	}
}

// watchForNotStored follows the PackageValues, and says at the end whether one of them told of
// a release that does not take its values: here each does.
func watchForNotStored(t *testing.T, name string) (check func()) {
	t.Helper()
	watcher, err := client.NewWithWatch(cluster.Config, client.Options{Scheme: cluster.Client.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	following, err := watcher.Watch(t.Context(), &cozyv1.PackageValuesList{}, client.MatchingFields{"metadata.name": name})
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan []string)
	go func() {
		var told []string
		for event := range following.ResultChan() {
			values, ok := event.Object.(*cozyv1.PackageValues)
			if !ok || event.Type == watch.Deleted {
				continue
			}
			for _, component := range values.Status.Components {
				if component.Ready == metav1.ConditionFalse {
					told = append(told, component.Reason+": "+component.Message)
				}
			}
		}
		seen <- told
	}()
	return func() {
		t.Helper()
		following.Stop()
		if told := <-seen; len(told) > 0 {
			t.Errorf("the status said %d times that something had failed; first: %s", len(told), told[0])
		}
	}
}
