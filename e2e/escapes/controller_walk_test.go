package escapes_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"testing"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/fluxcd/pkg/apis/meta"

	"github.com/cozystack/gitops-operator/e2e/attempts"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// atController is what came of an escape at the controllers, by tenant: whether it is
// closed.
type atController map[string]bool

// walkControllers gives every try to each of the controllers, by an admin's hand, and
// looks what comes of it.
func walkControllers(t *testing.T, s *scenery, tries []controllerTry) map[string]atController {
	t.Helper()
	type given struct {
		try    controllerTry
		tenant string
		object *unstructured.Unstructured
	}
	var all []given
	for _, try := range tries {
		for _, c := range controllers {
			object := try.kustomization(c.tenant)
			if err := cluster.Client.Create(t.Context(), object); err != nil {
				t.Fatalf("%s: %v", try.name, err)
			}
			all = append(all, given{try, c.tenant, object})
		}
	}
	results := map[string]atController{}
	for _, one := range all {
		message := awaitSettled(t, one.object)
		escaped, err := one.try.escaped(t.Context(), s, one.tenant, one.try.prefix(one.tenant))
		if err != nil {
			t.Errorf("%s in %s: %v", one.try.name, one.tenant, err)
		}
		t.Logf("%s in %s: escaped: %t: %s", one.try.name, one.tenant, escaped, message)
		if results[one.try.name] == nil {
			results[one.try.name] = atController{}
		}
		results[one.try.name][one.tenant] = !escaped
	}
	return results
}

// prefix tells the application of one try at one controller from all others. It is
// short: with what Helm puts before it, a release's name has few characters.
func (try controllerTry) prefix(tenant string) string {
	if try.plainNames {
		return ""
	}
	sum := sha256.Sum256([]byte(try.name + " of " + tenant))
	return "try" + hex.EncodeToString(sum[:6]) + "-"
}

// kustomization is a good one, but for what the try changes.
func (try controllerTry) kustomization(tenant string) *unstructured.Unstructured {
	object := attempts.Kustomization(tenant)
	object.SetName(slug(try.name))
	attempts.Set(object, false, "spec", "suspend")
	attempts.Set(object, "1h", "spec", "interval")
	attempts.Set(object, tenant, "spec", "targetNamespace")
	if prefix := try.prefix(tenant); prefix != "" {
		attempts.Set(object, prefix, "spec", "namePrefix")
	}
	path := "app"
	if try.path != nil {
		path = try.path(tenant)
	}
	attempts.Set(object, "./"+path, "spec", "path")
	change := byName(try.name)
	if try.change != nil {
		change = try.change
	}
	change(tenant)(object)
	return object
}

// awaitSettled waits until the controller has said what became of a Kustomization, and
// returns that.
func awaitSettled(t *testing.T, object *unstructured.Unstructured) string {
	t.Helper()
	var said string
	harness.Await(t, "the verdict about "+object.GetName()+" in "+object.GetNamespace(), func(ctx context.Context) (bool, string) {
		live := object.DeepCopy()
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(object), live); err != nil {
			return false, err.Error()
		}
		ready := readyOf(live)
		if ready == nil {
			return false, "nobody has said anything"
		}
		said = fmt.Sprintf("%s: %s: %s", ready.Status, ready.Reason, ready.Message)
		return ready.Status != metav1.ConditionUnknown && ready.ObservedGeneration == live.GetGeneration(), said
	})
	return said
}

func readyOf(object *unstructured.Unstructured) *metav1.Condition {
	var status struct {
		Conditions []metav1.Condition `json:"conditions"`
	}
	content, _, err := unstructured.NestedMap(object.Object, "status")
	if err != nil || runtime.DefaultUnstructuredConverter.FromUnstructured(content, &status) != nil {
		return nil
	}
	return apimeta.FindStatusCondition(status.Conditions, meta.ReadyCondition)
}

// walkForeignShard puts a Kustomization with a tenant's shard label into another
// namespace: the tenant's controller must take no notice. It knows of it once it has
// reconciled one of its own that was written later.
func walkForeignShard(t *testing.T) atController {
	t.Helper()
	results := atController{}
	for _, c := range controllers {
		if c.roles && !c.flags {
			// With Roles in one namespace it cannot watch another at all.
			continue
		}
		object := attempts.Kustomization(victim)
		object.SetName("shard-of-" + c.tenant)
		attempts.Label(attempts.ShardLabel, c.tenant)(object)
		attempts.Set(object, false, "spec", "suspend")
		if err := cluster.Client.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
		later := controllerTry{name: "later", change: unchanged}.kustomization(c.tenant)
		if err := cluster.Client.Create(t.Context(), later); err != nil {
			t.Fatal(err)
		}
		if !c.flags {
			results[c.tenant] = false
			t.Logf("another tenant's shard, %s: %s", c.tenant, awaitSettled(t, object))
			continue
		}
		awaitSettled(t, later)
		if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			t.Fatal(err)
		}
		results[c.tenant] = len(object.GetFinalizers()) == 0 && readyOf(object) == nil
	}
	return results
}
