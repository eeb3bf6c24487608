package seal_test

import (
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cozystack/gitops-operator/internal/platform"
	"github.com/cozystack/gitops-operator/internal/seal"
)

// crd serves version v2 with a spec of these fields, each of any form.
func crd(fields ...string) *apiextensionsv1.CustomResourceDefinition {
	yes := true
	spec := apiextensionsv1.JSONSchemaProps{Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
	for _, field := range fields {
		spec.Properties[field] = apiextensionsv1.JSONSchemaProps{XPreserveUnknownFields: &yes}
	}
	served := &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
			Name: "v2", Served: true,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
				Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec},
			}},
		}},
	}}
	served.Name = seal.CiliumPolicyCRD
	return served
}

// TestSealOfNodes computes the seal of a Flux on the host network for each Cilium that
// may be there.
func TestSealOfNodes(t *testing.T) {
	today := crd("nodeSelector", "endpointSelector", "ingressDeny", "egressDeny", "enableDefaultDeny")
	notServed := today.DeepCopy()
	notServed.Spec.Versions[0].Served = false
	for name, tc := range map[string]struct {
		crd          *apiextensionsv1.CustomResourceDefinition
		sealed       bool
		reason, part string
		policies     int
	}{
		"none":                      {nil, false, "FluxOnHostNetwork", "are not served", 0},
		"without enableDefaultDeny": {crd("nodeSelector", "endpointSelector", "ingressDeny", "egressDeny"), false, "CiliumTooOld", "does not know spec.enableDefaultDeny", 0},
		"another version":           {notServed, false, "CiliumTooOld", "does not serve version v2", 0},
		"of today":                  {today, true, "SealedByCilium", "port 9691 and 9790 of every node", 2},
	} {
		t.Run(name, func(t *testing.T) {
			in := inPods()
			in.CiliumCRD = tc.crd
			in.Servers = []platform.ArtifactServer{
				{Program: "source-controller", Deployment: "flux", Port: 9790, HostNetwork: true},
				{Program: "source-watcher", Deployment: "flux", Port: 9691, HostNetwork: true},
			}
			got := compute(t, in)
			if got.Verdict.Sealed != tc.sealed || got.Verdict.Reason != tc.reason || !strings.Contains(got.Verdict.Message, tc.part) {
				t.Errorf("verdict %+v", got.Verdict)
			}
			if len(got.Objects) != tc.policies {
				t.Errorf("%d policies, want %d", len(got.Objects), tc.policies)
			}
		})
	}
}

// TestEveryDenialNamesPorts looks that no rule denies more than the artifacts: one
// without ports would take a node off the network.
func TestEveryDenialNamesPorts(t *testing.T) {
	policies, err := seal.CiliumPolicies("cozy-fluxcd", "cozy-gitops-tenants", []int32{9790})
	if err != nil {
		t.Fatal(err)
	}
	denials := 0
	for _, policy := range policies {
		for _, section := range []string{"ingressDeny", "egressDeny"} {
			rules, _, _ := unstructured.NestedSlice(policy.Object, "spec", section)
			for _, rule := range rules {
				denials++
				ports, _, _ := unstructured.NestedSlice(rule.(map[string]any), "toPorts")
				if len(ports) != 1 {
					t.Errorf("%s has a rule without ports: %v", policy.GetName(), rule)
				}
			}
		}
		for _, direction := range []string{"ingress", "egress"} {
			if value, set, _ := unstructured.NestedBool(policy.Object, "spec", "enableDefaultDeny", direction); !set || value {
				t.Errorf("%s puts what it selects into default deny, %s", policy.GetName(), direction)
			}
		}
	}
	if denials != 3 {
		t.Errorf("%d denials, want 3", denials)
	}
}
