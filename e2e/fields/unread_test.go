package fields_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// readable are the kinds, beside Secrets themselves, in which a credential could leak.
var readable = []schema.GroupVersionKind{
	{Group: "gitops.cozystack.io", Version: "v1alpha1", Kind: "TenantGitOpsList"},
	{Group: "source.toolkit.fluxcd.io", Version: "v1", Kind: "GitRepositoryList"},
	{Group: "source.toolkit.fluxcd.io", Version: "v1", Kind: "OCIRepositoryList"},
	{Group: "kustomize.toolkit.fluxcd.io", Version: "v1", Kind: "KustomizationList"},
	{Group: "events.k8s.io", Version: "v1", Kind: "EventList"},
	{Version: "v1", Kind: "ConfigMapList"},
}

// wantUnread says that credentials occur in no object of the namespace, no log of the
// operator and none of any other program.
func wantUnread(t *testing.T, namespace string, credentials ...string) {
	t.Helper()
	texts := map[string]string{"the operator's log": operatorLog.String()}
	for _, kind := range readable {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		if err := cluster.Client.List(t.Context(), list, client.InNamespace(namespace)); err != nil {
			t.Fatal(err)
		}
		text, err := yaml.Marshal(list.Items)
		if err != nil {
			t.Fatal(err)
		}
		texts[kind.Kind] = string(text)
	}
	logs, err := filepath.Glob(filepath.Join(cluster.Dir, "logs", "*.log"))
	if err != nil || len(logs) == 0 {
		t.Fatalf("found no logs in %s: %v", cluster.Dir, err)
	}
	for _, file := range logs {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		texts[filepath.Base(file)] = string(text)
	}
	if !strings.Contains(texts["the operator's log"], namespace) && !strings.Contains(texts["EventList"], namespace) {
		t.Errorf("neither the operator's log nor the events name %s: this would find nothing", namespace)
	}
	for where, text := range texts {
		for _, credential := range credentials {
			for _, form := range []string{credential, base64.StdEncoding.EncodeToString([]byte(credential))} {
				if strings.Contains(text, form) {
					t.Errorf("%s shows a credential, %.4s…", where, form)
				}
			}
		}
	}
}
