package customizer_test

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// system is where the Flux objects of Customizers are.
const system = gitopsv1.CustomizerNamespace

// bootstrap are the platform's bootstrap Package and its source, which make no release.
func bootstrap() []client.Object {
	source := fromYAML("apiVersion: cozystack.io/v1alpha1\nkind: PackageSource\nmetadata: {name: cozystack.cozystack-platform}\nspec: {variants: [{name: default, components: [{name: platform, path: platform}]}]}")
	return []client.Object{source, bootstrapPackage("{}")}
}

// bootstrapPackage is the bootstrap Package with these components.
func bootstrapPackage(components string) client.Object {
	return fromYAML("apiVersion: cozystack.io/v1alpha1\nkind: Package\nmetadata: {name: cozystack.cozystack-platform}\nspec: {variant: default, components: " + components + "}")
}

func fromYAML(text string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		panic(err)
	}
	return o
}

// newCustomizer is one that applies a repository with these files, not made yet: it can be
// changed before it is.
func newCustomizer(t *testing.T, name string, files map[string]string) (*gitopsv1.Customizer, *gitserver.Repository) {
	t.Helper()
	repository, _ := harness.NewRepository(t, git, name, files)
	return harness.Customizer(name, repository), repository
}

// create makes a Customizer, and deletes it when the test ends.
func create(t *testing.T, c *gitopsv1.Customizer) {
	t.Helper()
	harness.CreateCustomizer(t, cluster.Client, c)
}

// change changes the spec of a Customizer.
func change(t *testing.T, c *gitopsv1.Customizer, with func(*gitopsv1.CustomizerSpec)) {
	t.Helper()
	stored := read(t, c.Name)
	changed := stored.DeepCopy()
	with(&changed.Spec)
	if err := cluster.Client.Patch(t.Context(), changed, client.MergeFrom(stored)); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) *gitopsv1.Customizer {
	t.Helper()
	return harness.ReadCustomizer(t, cluster.Client, name)
}

// awaitState waits until a Customizer is in a state, which is told of its spec as it is, and the
// message holds all parts.
func awaitState(t *testing.T, name string, status metav1.ConditionStatus, reason string, parts ...string) *gitopsv1.Customizer {
	t.Helper()
	return harness.AwaitCustomizer(t, cluster.Client, name, status, reason, parts...)
}

// awaitApplied waits until a commit is applied.
func awaitApplied(t *testing.T, name, commit string) *gitopsv1.Customizer {
	t.Helper()
	return awaitState(t, name, metav1.ConditionTrue, gitopsv1.ReasonSucceeded, commit)
}

// push commits, and asks for a reconciliation.
func push(t *testing.T, name string, repository *gitserver.Repository, files map[string]string, removed ...string) string {
	t.Helper()
	commit := harness.Commit(t, repository, files, removed...)
	request(t, name)
	return commit
}

// request asks for a reconciliation.
func request(t *testing.T, name string) {
	t.Helper()
	harness.RequestCustomizer(t, cluster.Client, name)
}

// remove deletes a Customizer, and waits until it is gone.
func remove(t *testing.T, c *gitopsv1.Customizer) {
	t.Helper()
	if err := cluster.Client.Delete(t.Context(), c.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	harness.AwaitGone(t, cluster.Client, &gitopsv1.Customizer{ObjectMeta: metav1.ObjectMeta{Name: c.Name}})
}

// wantThere reads an object.
func wantThere(t *testing.T, o client.Object) client.Object {
	t.Helper()
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		t.Errorf("%T %s: %v", o, client.ObjectKeyFromObject(o), err)
	}
	return o
}

func priorityClass(name string, value int) string {
	return fmt.Sprintf("apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: %s}\nvalue: %d\n", name, value)
}

func configMap(namespace, name string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: %s, name: %s}\ndata: {a: b}\n", namespace, name)
}

func packageValues(name string) string {
	return fmt.Sprintf("apiVersion: cozystack.io/v1alpha1\nkind: PackageValues\nmetadata: {name: %s}\nspec: {components: {web: {values: {replicas: 2}}}}\n", name)
}

func configMapOf(namespace, name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
}

// awaitAnew waits until an object is there that is another one than it was.
func awaitAnew(t *testing.T, o client.Object, uid types.UID) {
	t.Helper()
	harness.Await(t, fmt.Sprintf("another %T %s", o, client.ObjectKeyFromObject(o)), func(ctx context.Context) (bool, string) {
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return false, err.Error()
		}
		return o.GetUID() != uid, "still the same"
	})
}

// named lists the objects of a list, as kind and name.
func named(t *testing.T, list client.ObjectList, options ...client.ListOption) []string {
	t.Helper()
	if err := cluster.Client.List(t.Context(), list, options...); err != nil {
		t.Fatal(err)
	}
	items, err := apimeta.ExtractList(list)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, item := range items {
		o := item.(client.Object)
		found = append(found, fmt.Sprintf("%T %s/%s", o, o.GetNamespace(), o.GetName()))
	}
	return found
}

// eventsOf are the notes of the events of a Customizer with a reason.
func eventsOf(ctx context.Context, t *testing.T, name, reason string) []string {
	t.Helper()
	var list eventsv1.EventList
	if err := cluster.Client.List(ctx, &list); err != nil {
		t.Fatal(err)
	}
	var notes []string
	for i := range list.Items {
		if e := &list.Items[i]; e.Regarding.Kind == gitopsv1.CustomizerKind && e.Regarding.Name == name && e.Reason == reason {
			notes = append(notes, e.Note)
		}
	}
	return notes
}
