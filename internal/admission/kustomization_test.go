package admission_test

import (
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cozystack/gitops-operator/internal/admission"
)

const (
	tenant  = "tenant-acme"
	account = "tenant-acme-gitops"
	shard   = "sharding.fluxcd.io/key"
)

// kustomization has the label and account that are not empty.
func kustomization(label, serviceAccount, policy string) *unstructured.Unstructured {
	spec := map[string]any{"interval": "1m", "aFieldOfTheFuture": "kept"}
	metadata := map[string]any{"name": "shop", "namespace": tenant}
	if label != "" {
		metadata["labels"] = map[string]any{shard: label}
	}
	if serviceAccount != "" {
		spec["serviceAccountName"] = serviceAccount
	}
	if policy != "" {
		spec["deletionPolicy"] = policy
	}
	return &unstructured.Unstructured{Object: map[string]any{"metadata": metadata, "spec": spec}}
}

func with(object *unstructured.Unstructured, path []string, value any) *unstructured.Unstructured {
	if err := unstructured.SetNestedField(object.Object, value, path...); err != nil {
		panic(err)
	}
	return object
}

func deleted(object *unstructured.Unstructured) *unstructured.Unstructured {
	return with(object, []string{"metadata", "deletionTimestamp"}, "2026-01-01T00:00:00Z")
}

func finalized(object *unstructured.Unstructured, finalizer string) *unstructured.Unstructured {
	object.SetFinalizers([]string{finalizer})
	return object
}

func TestDecide(t *testing.T) {
	switchedOn := admission.Facts{Tenant: true, HasTenantGitOps: true, AdminGroups: []string{"system:masters"}}
	switchedOff := admission.Facts{Tenant: true, AdminGroups: []string{"system:masters"}}
	right := func(policy string) *unstructured.Unstructured { return kustomization(tenant, account, policy) }
	note := []string{"metadata", "annotations", "note"}
	for name, test := range map[string]struct {
		old, object *unstructured.Unstructured
		groups      []string
		facts       admission.Facts
		// want is the stamped object; nil for one left alone, or refused with the part.
		want    *unstructured.Unstructured
		refused string
	}{
		"created bare":                      {object: kustomization("", "", ""), facts: switchedOn, want: right("Orphan")},
		"created as another tenant's":       {object: kustomization("tenant-victim", "tenant-victim-gitops", ""), facts: switchedOn, want: right("Orphan")},
		"chosen deletion policy stays":      {object: kustomization("", "", "Delete"), facts: switchedOn, want: right("Delete")},
		"as the operator stamps it":         {object: right("Orphan"), facts: switchedOn, want: right("Orphan")},
		"label removed":                     {old: right("Orphan"), object: kustomization("", account, "Orphan"), facts: switchedOn, want: right("Orphan")},
		"account removed":                   {old: right("Orphan"), object: kustomization(tenant, "", "Orphan"), facts: switchedOn, want: right("Orphan")},
		"old one that is changed":           {old: kustomization("", "flux", ""), object: kustomization("", "admin", ""), facts: switchedOn, want: right("Orphan")},
		"old one that is annotated":         {old: kustomization("", "flux", ""), object: with(kustomization("", "flux", ""), note, "x"), facts: switchedOn},
		"old one annotated, not switched":   {old: kustomization("", "", ""), object: with(kustomization("", "", ""), note, "x"), facts: switchedOff},
		"deleting, finalizer off":           {old: deleted(kustomization("x", "y", "")), object: deleted(kustomization("x", "y", "")), facts: switchedOff},
		"deleting, other labels off":        {old: deleted(with(kustomization("x", "y", ""), []string{"metadata", "labels", "a"}, "b")), object: deleted(kustomization("x", "y", "")), facts: switchedOff},
		"deleting, given another account":   {old: deleted(right("Orphan")), object: deleted(kustomization(tenant, "admin", "Orphan")), facts: switchedOn, want: deleted(right("Orphan"))},
		"deleting, label taken off":         {old: deleted(right("Orphan")), object: deleted(kustomization("", account, "Orphan")), facts: switchedOn, want: deleted(right("Orphan"))},
		"created with a deletion timestamp": {object: deleted(kustomization("", "admin", "")), facts: switchedOn, want: deleted(right("Orphan"))},
		"not switched on":                   {object: right("Orphan"), facts: switchedOff, refused: "kustomization shop: namespace tenant-acme has no TenantGitOps, so nobody would reconcile it: create the TenantGitOps gitops in tenant-acme first"},
		"changed, not switched on":          {old: kustomization("", "a", ""), object: kustomization("", "b", ""), facts: switchedOff, refused: "has no TenantGitOps"},
		"a duration that none can hold":     {object: with(kustomization("", "", ""), []string{"spec", "interval"}, "99999999999h"), facts: switchedOn, refused: "no controller could read it"},
		"spec that is no map":               {object: with(kustomization("", "", ""), []string{"spec"}, "x"), facts: switchedOn, refused: "cannot set spec.serviceAccountName"},
		"another kind of source":            {object: with(kustomization("", "", ""), []string{"spec", "sourceRef", "kind"}, "Bucket"), facts: switchedOn, refused: "tenants have no other sources"},
		"a source that is no map":           {object: with(kustomization("", "", ""), []string{"spec", "sourceRef"}, "x"), facts: switchedOn, refused: "tenants have no other sources"},
		"from an OCI registry":              {object: with(right("Orphan"), []string{"spec", "sourceRef", "kind"}, "OCIRepository"), facts: switchedOn, want: with(right("Orphan"), []string{"spec", "sourceRef", "kind"}, "OCIRepository")},
		"labels that Flux goes by":          {object: with(kustomization("", "", ""), []string{"spec", "commonMetadata", "labels", "kustomize.toolkit.fluxcd.io/name"}, "x"), facts: switchedOn, refused: "remove kustomize.toolkit.fluxcd.io/name"},
		"a shard label for all":             {object: with(kustomization("", "", ""), []string{"spec", "commonMetadata", "labels", shard}, "x"), facts: switchedOn, refused: "remove " + shard},
		"labels that are no map":            {object: with(kustomization("", "", ""), []string{"spec", "commonMetadata"}, "x"), facts: switchedOn, refused: "spec.commonMetadata.labels is no map"},
		"labels of its own for all":         {object: with(right("Orphan"), []string{"spec", "commonMetadata", "labels", "team"}, "x"), facts: switchedOn, want: with(right("Orphan"), []string{"spec", "commonMetadata", "labels", "team"}, "x")},
		"created with a foreign finalizer":  {object: finalized(right("Orphan"), "x"), facts: switchedOn, refused: "remove the others"},
		"given a foreign finalizer":         {old: right("Orphan"), object: finalized(right("Orphan"), "x"), facts: switchedOff, refused: "remove the others"},
		"given Flux's finalizer":            {old: right("Orphan"), object: finalized(right("Orphan"), "finalizers.fluxcd.io"), facts: switchedOff},
		"keeps the finalizer that it has":   {old: finalized(right("Orphan"), "x"), object: finalized(with(right("Orphan"), note, "x"), "x"), facts: switchedOff},
		"admin, with a foreign finalizer":   {object: finalized(kustomization("", "", ""), "x"), groups: []string{"system:masters"}, facts: switchedOff},
		"admin":                             {object: kustomization("", "", ""), groups: []string{"system:masters"}, facts: switchedOff},
		"not a tenant's namespace":          {object: kustomization("", "", ""), facts: admission.Facts{}},
	} {
		t.Run(name, func(t *testing.T) {
			sent := test.object.DeepCopy()
			verdict := admission.Decide(admission.Request{Namespace: tenant, Object: test.object, Old: test.old, Groups: test.groups}, test.facts)
			if !reflect.DeepEqual(sent, test.object) {
				t.Error("the request was changed")
			}
			switch {
			case test.refused != "":
				if verdict.Outcome != admission.Refused || !strings.Contains(verdict.Message, test.refused) {
					t.Errorf("got %s %q, want a refusal with %q", verdict.Outcome, verdict.Message, test.refused)
				}
			case test.want == nil:
				if verdict.Outcome != admission.LeftAlone {
					t.Errorf("got %s %q, want it left alone", verdict.Outcome, verdict.Message)
				}
			case verdict.Outcome != admission.Stamped || !reflect.DeepEqual(verdict.Object, test.want):
				t.Errorf("got %s %q %v, want %v", verdict.Outcome, verdict.Message, verdict.Object, test.want)
			}
		})
	}
}
