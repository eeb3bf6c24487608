package admission_test

import (
	"strings"
	"testing"

	"github.com/cozystack/gitops-operator/internal/admission"
)

func TestDecideSource(t *testing.T) {
	for name, test := range map[string]struct {
		kind  string
		facts admission.SourceFacts
		// refused is a part of the sentence; empty for one that passes.
		refused string
	}{
		"the first":                {kind: "GitRepository", facts: admission.SourceFacts{HasTenantGitOps: true, Max: 20}},
		"the last":                 {kind: "OCIRepository", facts: admission.SourceFacts{HasTenantGitOps: true, Others: 19, Max: 20}},
		"one too many":             {kind: "GitRepository", facts: admission.SourceFacts{HasTenantGitOps: true, Others: 20, Max: 20}, refused: "gitrepository shop: namespace tenant-acme has 20 sources (GitRepositories and OCIRepositories), and may have 20: delete one"},
		"far too many":             {kind: "GitRepository", facts: admission.SourceFacts{HasTenantGitOps: true, Others: 300, Max: 20}, refused: "has 300 sources"},
		"before it is switched on": {kind: "OCIRepository", facts: admission.SourceFacts{Max: 20}, refused: "ocirepository shop: namespace tenant-acme has no TenantGitOps, so nobody would reconcile it: create the TenantGitOps gitops in tenant-acme first"},
		"a kind of nobody":         {kind: "Bucket", facts: admission.SourceFacts{HasTenantGitOps: true, Max: 20}, refused: "tenants have no sources of the kind Bucket"},
	} {
		t.Run(name, func(t *testing.T) {
			verdict := admission.DecideSource(admission.NewSource{Namespace: tenant, Kind: test.kind, Name: "shop", User: "ann"}, test.facts)
			if (verdict.Outcome == admission.Refused) != (test.refused != "") || !strings.Contains(verdict.Message, test.refused) {
				t.Errorf("got %s: %s", verdict.Outcome, verdict.Message)
			}
		})
	}
}

func TestExemptSources(t *testing.T) {
	const operator = "system:serviceaccount:cozy-gitops:gitops-operator"
	for user, exempt := range map[string]bool{
		"ann":    false,
		operator: true,
		"system:serviceaccount:cozy-gitops:another":                   false,
		"system:serviceaccount:cozy-fluxcd:flux":                      true,
		"system:serviceaccount:tenant-acme:tenant-acme-gitops":        false,
		"system:serviceaccount:kube-system-of-acme:helm-controller":   false,
		"system:serviceaccount:kube-system:generic-garbage-collector": true,
	} {
		if got := (admission.NewSource{User: user}).Exempt(operator, []string{"acme:admins"}); got != exempt {
			t.Errorf("%s: exempt %t, want %t", user, got, exempt)
		}
	}
	if !(admission.NewSource{User: "ann", Groups: []string{"acme:admins"}}).Exempt(operator, []string{"acme:admins"}) {
		t.Error("an admin is not exempt")
	}
}
