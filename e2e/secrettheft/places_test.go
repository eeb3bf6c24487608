package secrettheft_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/yaml"
)

// canary is what a Secret holds, and where it may be seen: in the Secret itself.
type canary struct {
	word              string
	namespace, secret string
}

// places are all texts in which a canary could be: each log, and each object of the
// cluster but the Secret that holds it.
type places struct {
	logs    map[string]string
	objects []unstructured.Unstructured
}

// lookEverywhere reads all objects of all kinds that discovery tells of, and all logs.
func lookEverywhere(t *testing.T) places {
	t.Helper()
	found := places{logs: map[string]string{"the operator's log": operatorLog.String()}}
	logs, err := filepath.Glob(filepath.Join(cluster.Dir, "logs", "*.log"))
	if err != nil || len(logs) < 5 {
		t.Fatalf("found %d logs: %v", len(logs), err)
	}
	for _, file := range append(logs, filepath.Join(cluster.Dir, "audit.log")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		found.logs[filepath.Base(file)] = string(text)
	}
	served, err := discovery.NewDiscoveryClientForConfig(cluster.Config)
	if err != nil {
		t.Fatal(err)
	}
	_, lists, err := served.ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		group, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, resource := range list.APIResources {
			if strings.Contains(resource.Name, "/") || !strings.Contains(resource.Verbs.String(), "list") {
				continue
			}
			all := &unstructured.UnstructuredList{}
			all.SetGroupVersionKind(group.WithKind(resource.Kind + "List"))
			if err := cluster.Client.List(t.Context(), all); err != nil {
				t.Fatalf("list %s: %v", resource.Name, err)
			}
			found.objects = append(found.objects, all.Items...)
		}
	}
	if len(found.objects) < 100 {
		t.Fatalf("found %d objects only", len(found.objects))
	}
	return found
}

// show returns where a canary is seen, without the canary.
func (p places) show(t *testing.T, of canary) []string {
	t.Helper()
	var seen []string
	for name, text := range p.logs {
		if holds(text, of.word) {
			seen = append(seen, name)
		}
	}
	for _, object := range p.objects {
		if object.GetKind() == "Secret" && object.GetNamespace() == of.namespace && object.GetName() == of.secret {
			continue
		}
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			t.Fatal(err)
		}
		if holds(string(text), of.word) {
			seen = append(seen, object.GetKind()+" "+object.GetNamespace()+"/"+object.GetName())
		}
	}
	return seen
}

// holds looks for a word as it is, and as base64 makes it, wherever it begins.
func holds(text, word string) bool {
	if strings.Contains(text, word) {
		return true
	}
	for skipped := range 3 {
		encoded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", skipped) + word))
		// The ends are mixed with what is beside the word.
		if strings.Contains(text, encoded[4:len(encoded)-4]) {
			return true
		}
	}
	return false
}

// secretWith is a Secret that holds a canary.
func secretWith(t *testing.T, of canary, how theft, thief *thiefServer) *corev1.Secret {
	t.Helper()
	secret := &corev1.Secret{Type: how.secretType, StringData: how.content(t, of.word, thief)}
	secret.Namespace, secret.Name = of.namespace, of.secret
	return secret
}
