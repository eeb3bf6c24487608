package escapes_test

import (
	"fmt"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// peopleTry is something that a tenant's people write, which no role grants them.
type peopleTry struct{ what, manifest string }

func manifestOf(apiVersion, kind, namespace, name, rest string) string {
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {namespace: %q, name: %s}\n%s", apiVersion, kind, namespace, name, rest)
}

// peopleTries are what would lead around the kinds that admission looks at.
func peopleTries(tenant string) []peopleTry {
	const sources, rbac = "source.toolkit.fluxcd.io/v1", "rbac.authorization.k8s.io/v1"
	return []peopleTry{
		{"a source of kind Bucket", manifestOf(sources, "Bucket", tenant, "a", "spec: {interval: 1h, bucketName: a, endpoint: 10.0.0.1}")},
		{"a source of kind ExternalArtifact", manifestOf(sources, "ExternalArtifact", tenant, "a", "")},
		{"a source of kind HelmRepository", manifestOf(sources, "HelmRepository", tenant, "a", "spec: {interval: 1h, url: \"https://10.0.0.1\"}")},
		{"a source of kind HelmChart", manifestOf(sources, "HelmChart", tenant, "a", "spec: {interval: 1h, chart: a, sourceRef: {kind: GitRepository, name: a}}")},
		{"a Secret", manifestOf("v1", "Secret", tenant, "a.gitops", "")},
		{"a ConfigMap", manifestOf("v1", "ConfigMap", tenant, "a", "")},
		{"a service account", manifestOf("v1", "ServiceAccount", tenant, tenant+"-gitops", "")},
		{"a Role", manifestOf(rbac, "Role", tenant, "a", "rules: []")},
		{"a binding for git's account", manifestOf(rbac, "RoleBinding", tenant, "a", "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin}")},
		{"a controller of its own", manifestOf("apps/v1", "Deployment", "cozy-gitops-tenants", "a", "spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: example.org/a}]}}}")},
		{"the platform's parameters", manifestOf("gitops.cozystack.io/v1alpha1", "GitOpsParameters", "", "gitops", "")},
		{"the TenantGitOps of another tenant", manifestOf("gitops.cozystack.io/v1alpha1", "TenantGitOps", victim, "gitops", "spec: {sources: [{name: a, git: {url: \"https://git.example.org/a\"}}]}")},
		{"a Kustomization in another tenant's namespace", manifestOf("kustomize.toolkit.fluxcd.io/v1", "Kustomization", victim, "a", "spec: {interval: 1h, prune: true, sourceRef: {kind: GitRepository, name: a}}")},
		{"a Kustomization beside Flux", manifestOf("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "cozy-fluxcd", "a", "spec: {interval: 1h, prune: true, sourceRef: {kind: GitRepository, name: a}}")},
		{"a namespace", manifestOf("v1", "Namespace", "", tenant, "")},
	}
}

func (try peopleTry) object(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(try.manifest), &object.Object); err != nil {
		t.Fatal(err)
	}
	return object
}

// walkPeople has the people write each thing, with neither webhooks nor policies, and
// returns whether the roles refuse it.
func walkPeople(t *testing.T, who []client.Client, tenant string, sources map[admissionState]map[string]answer) []row {
	t.Helper()
	var rows []row
	for _, try := range peopleTries(tenant) {
		object := try.object(t)
		closed := true
		for _, person := range who {
			err := person.Create(t.Context(), object.DeepCopy(), client.DryRunAll)
			got, err := answerTo(object, func(*unstructured.Unstructured) {}, err)
			if err != nil {
				t.Errorf("%s: %v", try.what, err)
			}
			closed = closed && got == byRoles
		}
		r := row{section: "what a tenant's people may not write at all", escape: try.what, allOn: closed, webhookOff: closed, policyOff: closed, flagsOff: closed}
		if closed {
			r.alone = []string{string(byRoles)}
			r.note = "no role names it; the API server refuses by itself what no role names"
			if granted, known := sources[admissionState{webhooks: true}][try.what]; known && granted != passed {
				r.alone, r.note = append(r.alone, string(byWebhook)), ""
			}
			if granted, known := sources[admissionState{policies: true}][try.what]; known && granted != passed {
				r.alone, r.note = append(r.alone, string(byPolicy)), ""
			}
		}
		rows = append(rows, r)
	}
	return rows
}
