package main

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
)

func TestWatchTellsOfTheApplicationsThatALabelSelects(t *testing.T) {
	newTenant(t, "tenant-watch")
	watching, err := client.NewWithWatch(cluster.Config, client.Options{Scheme: cluster.Client.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(fixtures.Application("PostgresList", "", "").GroupVersionKind())
	watched, err := watching.Watch(t.Context(), list, client.InNamespace("tenant-watch"), client.MatchingLabels{"team": "a"})
	if err != nil {
		t.Fatal(err)
	}
	defer watched.Stop()

	other := postgres("tenant-watch", "other", nil)
	create(t, other)
	object := postgres("tenant-watch", "db", map[string]any{"size": "1Gi"})
	object.SetLabels(map[string]string{"team": "a"})
	create(t, object)
	wantEvent(t, watched, watch.Added, "db", "1Gi")
	object.Object["spec"] = map[string]any{"size": "2Gi"}
	if err := cluster.Client.Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	wantEvent(t, watched, watch.Modified, "db", "2Gi")
	object.SetLabels(nil)
	if err := cluster.Client.Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	wantEvent(t, watched, watch.Deleted, "db", "2Gi")
}

func wantEvent(t *testing.T, watched watch.Interface, kind watch.EventType, name, size string) {
	t.Helper()
	select {
	case event := <-watched.ResultChan():
		object, _ := event.Object.(*unstructured.Unstructured)
		if object == nil {
			t.Fatalf("event %v", event)
		}
		got, _, _ := unstructured.NestedString(object.Object, "spec", "size")
		if fmt.Sprint(event.Type, object.GetName(), got, object.GetKind()) != fmt.Sprint(kind, name, size, "Postgres") {
			t.Errorf("event %s of %s %s with %s, want %s of Postgres %s with %s", event.Type, object.GetKind(), object.GetName(), got, kind, name, size)
		}
	case <-time.After(30 * time.Second):
		t.Fatalf("no event %s of %s", kind, name)
	}
}
