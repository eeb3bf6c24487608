package customizer_test

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestWrongManifestsAreRefused with a sentence that says the mend.
func TestWrongManifestsAreRefused(t *testing.T) {
	t.Parallel()
	const git = "source: {git: {url: 'https://git.example.org/acme/platform'}}"
	for name, tc := range map[string]struct{ name, spec, want string }{
		"no source":              {"", "{}", "spec.source: Required"},
		"neither git nor oci":    {"", "{source: {}}", "set exactly one of git and oci"},
		"both":                   {"", "{source: {git: {url: 'https://a.example.org/a'}, oci: {url: 'oci://a.example.org/a'}}}", "set exactly one of git and oci"},
		"no url":                 {"", "{source: {git: {}}}", "spec.source.git.url: Required"},
		"plain http":             {"", "{source: {git: {url: 'http://git.example.org/acme'}}}", "url must start with https:// or ssh://"},
		"credentials in the url": {"", "{source: {git: {url: 'https://a:b@git.example.org/acme'}}}", "put username and password into a Secret"},
		"ssh without a key":      {"", "{source: {git: {url: 'ssh://git@git.example.org/acme'}}}", "an ssh:// url needs a key"},
		"a deploy key":           {"", "{source: {git: {url: 'ssh://git@git.example.org/acme', deployKey: Generate, knownHosts: x}}}", "create a Secret called <something>.gitops in cozy-system"},
		"a Secret's name":        {"", "{source: {git: {url: 'https://git.example.org/acme', secretRef: {name: acme}}}}", "must be called <something>.gitops"},
		"a path outside":         {"", "{" + git + ", kustomization: {path: ../a}}", "path must stay inside the repository"},
		"an interval too short":  {"", "{" + git + ", kustomization: {interval: 1s}}", "interval must be between 30s and 24h"},
		"wait and checks":        {"", "{" + git + ", kustomization: {wait: true, healthChecks: [{kind: Package, name: a}]}}", "remove wait, or remove healthChecks"},
		"an age key":             {"", "{" + git + ", kustomization: {decryption: {ageKey: Generate}}}", "with a key that ends in .agekey"},
		"a deletion policy":      {"", "{" + git + ", kustomization: {deletionPolicy: Keep}}", "Unsupported value"},
		"a profile":              {"", "{" + git + ", rbac: {profile: Admin}}", "Unsupported value"},
		"kube-system":            {"", "{" + git + ", rbac: {ownedNamespaces: [kube-system]}}", "are the platform's, use another name"},
		"a tenant's namespace":   {"", "{" + git + ", rbac: {ownedNamespaces: [tenant-acme]}}", "are the platform's, use another name"},
		"no namespace":           {"", "{" + git + ", rbac: {ownedNamespaces: [Acme]}}", "should match"},
		"overrides and a namespace": {"", "{" + git + ", rbac: {profile: OverridesOnly, ownedNamespaces: [acme]}}",
			"a repository that may only override has no namespace of its own"},
		"overrides and rules": {"", "{" + git + ", rbac: {profile: OverridesOnly, extraRules: [{apiGroups: [a], resources: [b], verbs: [get]}]}}", "extraRules add to the profile Curated"},
		"admin and rules":     {"", "{" + git + ", rbac: {profile: ClusterAdmin, extraRules: [{apiGroups: [a], resources: [b], verbs: [get]}]}}", "extraRules add to the profile Curated"},
		"a star of groups":    {"", "{" + git + ", rbac: {extraRules: [{apiGroups: ['*'], resources: [b], verbs: [get]}]}}", "in place of the star"},
		"a star of resources": {"", "{" + git + ", rbac: {extraRules: [{apiGroups: [a], resources: ['*'], verbs: [get]}]}}", "in place of the star"},
		"a star of verbs":     {"", "{" + git + ", rbac: {extraRules: [{apiGroups: [a], resources: [b], verbs: ['*']}]}}", "in place of the star"},
		"escalate":            {"", "{" + git + ", rbac: {extraRules: [{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [escalate]}]}}", "make a repository cluster-admin"},
		"a rule for nothing":  {"", "{" + git + ", rbac: {extraRules: [{apiGroups: [a], resources: [], verbs: [get]}]}}", "should have at least 1 items"},
		"a dot in the name":   {"acme.platform", "{" + git + "}", "a Customizer's name is at most 40"},
		"a long name":         {strings.Repeat("a", 41), "{" + git + "}", "a Customizer's name is at most 40"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.name == "" {
				tc.name = "refused"
			}
			o := fromYAML(fmt.Sprintf("apiVersion: gitops.cozystack.io/v1alpha1\nkind: Customizer\nmetadata: {name: %s}\nspec: %s\n", tc.name, tc.spec))
			err := cluster.Client.Create(t.Context(), o, client.DryRunAll)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("want %q, got %v", tc.want, err)
			}
		})
	}
}
