package admission_test

import (
	"encoding/json"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kubejson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/cozystack/gitops-operator/internal/admission"
)

// identity is who reconciles a Kustomization, and as whom, read from its JSON by
// means other than those of the code under test.
type identity struct {
	Metadata struct {
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		ServiceAccountName string `json:"serviceAccountName"`
	} `json:"spec"`
}

func identify(t *testing.T, object *unstructured.Unstructured) (label string, labelled bool, account string) {
	text, err := json.Marshal(object.Object)
	if err != nil {
		t.Fatal(err)
	}
	var who identity
	if err := kubejson.Unmarshal(text, &who); err != nil {
		t.Fatalf("an object passed that no controller can read: %v: %s", err, text)
	}
	label, labelled = who.Metadata.Labels["sharding.fluxcd.io/key"]
	return label, labelled, who.Spec.ServiceAccountName
}

// parse returns nil for what the API server would not let come to admission.
func parse(text string) *unstructured.Unstructured {
	var object map[string]any
	if kubejson.Unmarshal([]byte(text), &object) != nil || object == nil {
		return nil
	}
	if kubejson.Unmarshal([]byte(text), &identity{}) != nil {
		return nil
	}
	return &unstructured.Unstructured{Object: object}
}

// FuzzNothingRunsAsAnother holds verdicts against the one rule that matters:
// what a tenant writes runs in its own controller under its own account, or runs
// as it did before.
func FuzzNothingRunsAsAnother(f *testing.F) {
	const bare, own = `{"metadata":{"name":"a"},"spec":{}}`, `{"metadata":{"name":"a","labels":{"sharding.fluxcd.io/key":"tenant-acme"}},"spec":{"serviceAccountName":"tenant-acme-gitops","deletionPolicy":"Delete"}}`
	const foreign, going = `{"metadata":{"labels":{"sharding.fluxcd.io/key":"tenant-victim","x":"y"}},"spec":{"serviceAccountName":"admin"}}`, `{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["x"],"labels":{"sharding.fluxcd.io/key":""}},"spec":{"serviceAccountName":"admin"}}`
	seeds := []string{"", bare, own, foreign, going, `{}`, `{"spec":null,"metadata":null}`, `{"metadata":{"labels":null},"spec":{"deletionPolicy":null}}`}
	for _, before := range seeds {
		for _, after := range seeds {
			f.Add(before, after, "acme", true)
			f.Add(before, after, "acme", false)
		}
	}
	f.Fuzz(func(t *testing.T, before, after, name string, switchedOn bool) {
		namespace := "tenant-" + name
		if len(validation.IsDNS1123Label(namespace)) > 0 {
			return
		}
		request := admission.Request{Namespace: namespace, Object: parse(after), Groups: []string{"system:authenticated"}}
		if request.Object == nil {
			return
		}
		if before != "" {
			if request.Old = parse(before); request.Old == nil {
				return
			}
		}
		verdict := admission.Decide(request, admission.Facts{Tenant: true, HasTenantGitOps: switchedOn, AdminGroups: []string{"system:masters", "kubeadm:cluster-admins"}})
		switch verdict.Outcome {
		case admission.Refused:
			if !strings.Contains(verdict.Message, ": ") {
				t.Fatalf("a refusal without a reason: %q", verdict.Message)
			}
		case admission.LeftAlone:
			if request.Old == nil {
				t.Fatalf("left alone, though it is new: %s", after)
			}
			label, labelled, account := identify(t, request.Object)
			labelBefore, labelledBefore, accountBefore := identify(t, request.Old)
			if label != labelBefore || labelled != labelledBefore || account != accountBefore {
				t.Fatalf("left alone, and it runs as another: before %s, after %s", before, after)
			}
		case admission.Stamped:
			label, _, account := identify(t, verdict.Object)
			if !switchedOn || label != namespace || account != namespace+"-gitops" {
				t.Fatalf("passed in %s with the label %q and the account %q", namespace, label, account)
			}
			// Whoever lists all tenants' must be able to read this one.
			text, err := json.Marshal(verdict.Object)
			if err != nil {
				t.Fatal(err)
			}
			if err := kubejson.Unmarshal(text, &kustomizev1.Kustomization{}); err != nil {
				t.Fatalf("an object passed that no controller can read: %v: %s", err, text)
			}
		default:
			t.Fatalf("no verdict: %+v", verdict)
		}
	})
}
