package main

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
)

func TestSelectorsChooseByTheApplicationsOwnLabelsAndNames(t *testing.T) {
	newTenant(t, "tenant-select")
	for name, team := range map[string]string{"a": "red", "b": "blue", "c": ""} {
		object := postgres("tenant-select", name, nil)
		if team != "" {
			object.SetLabels(map[string]string{"example.org/team": team})
		}
		create(t, object)
	}
	create(t, fixtures.Application("Redis", "tenant-select", "a"))
	for _, c := range []struct {
		option client.ListOption
		names  []string
	}{
		{client.MatchingLabels{"example.org/team": "red"}, []string{"a"}},
		{client.HasLabels{"example.org/team"}, []string{"a", "b"}},
		{selecting(t, "example.org/team notin (red)"), []string{"b", "c"}},
		{selecting(t, "!example.org/team"), []string{"c"}},
		{client.MatchingFields{"metadata.name": "b"}, []string{"b"}},
		{client.MatchingLabels{}, []string{"a", "b", "c"}},
	} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(fixtures.Application("PostgresList", "", "").GroupVersionKind())
		if err := cluster.Client.List(t.Context(), list, client.InNamespace("tenant-select"), c.option); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, item := range list.Items {
			names = append(names, item.GetName())
		}
		slices.Sort(names)
		if !slices.Equal(names, c.names) {
			t.Errorf("%v chooses %v, want %v", c.option, names, c.names)
		}
	}
}

func selecting(t *testing.T, text string) client.MatchingLabelsSelector {
	t.Helper()
	selector, err := labels.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return client.MatchingLabelsSelector{Selector: selector}
}
