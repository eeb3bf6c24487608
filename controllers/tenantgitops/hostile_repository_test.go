package tenantgitops_test

import (
	"fmt"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// manifest is a small object; rest follows its name.
func manifest(apiVersion, kind, name, rest string) string {
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n%s", apiVersion, kind, name, rest)
}

// TestRepositoryCanWriteApplicationsAndNothingElse commits what a tenant might try, each
// in a folder and source of its own.
func TestRepositoryCanWriteApplicationsAndNothingElse(t *testing.T) {
	harness.WithOperator(t, cluster, harness.Config())
	git := harness.NewGitServer(t)
	const tenant, victim = "tenant-hostile", "tenant-victim"
	harness.NewTenant(t, cluster.Client, tenant)
	harness.NewTenant(t, cluster.Client, victim)
	elsewhere := "  namespace: " + victim + "\nspec: {}\n"
	refused := map[string]struct {
		files map[string]string
		// want is part of what the tenant is told.
		want string
	}{
		"kustomization": {map[string]string{"a.yaml": manifest("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "evil", "spec: {interval: 1m, prune: true, sourceRef: {kind: GitRepository, name: x}}\n")}, "forbidden"},
		"helmrelease":   {map[string]string{"a.yaml": manifest("helm.toolkit.fluxcd.io/v2", "HelmRelease", "evil", "spec: {interval: 1m}\n")}, "HelmRelease"},
		"tenantgitops":  {map[string]string{"a.yaml": manifest("gitops.cozystack.io/v1alpha1", "TenantGitOps", "gitops", "spec: {sources: [{name: x, git: {url: https://git.example.org/x}}]}\n")}, "forbidden"},
		"gitopsapp":     {map[string]string{"a.yaml": manifest("apps.cozystack.io/v1alpha1", "GitOps", "evil", "spec: {}\n")}, "forbidden"},
		"tenantapp":     {map[string]string{"a.yaml": manifest("apps.cozystack.io/v1alpha1", "Tenant", "evil", "spec: {}\n")}, "forbidden"},
		"role":          {map[string]string{"a.yaml": manifest("rbac.authorization.k8s.io/v1", "Role", "evil", "rules: []\n")}, "forbidden"},
		"secret":        {map[string]string{"a.yaml": manifest("v1", "Secret", "evil.gitops", "stringData: {a: b}\n")}, "forbidden"},
		"account":       {map[string]string{"a.yaml": manifest("v1", "ServiceAccount", "evil", "")}, "forbidden"},
		"namespace":     {map[string]string{"a.yaml": manifest("v1", "Namespace", "evil", "")}, "forbidden"},
		"binding":       {map[string]string{"a.yaml": manifest("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "evil", "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}\nsubjects: []\n")}, "forbidden"},
		"list":          {map[string]string{"a.yaml": "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Secret\n  metadata: {name: evil}\n"}, "forbidden"},
		"remote":        {map[string]string{"kustomization.yaml": "resources: [https://git.example.org/acme/base//x]\n"}, ""},
		"above":         {map[string]string{"kustomization.yaml": "resources: [../../../../../../etc]\n"}, ""},
		"absolute":      {map[string]string{"kustomization.yaml": "configMapGenerator: [{name: x, files: [/etc/hostname]}]\n"}, ""},
		"patched":       {map[string]string{"a.yaml": manifest("apps.cozystack.io/v1alpha1", "Postgres", "patched", "spec: {}\n")}, ""},
	}
	files := map[string]string{
		"named/a.yaml":                   manifest("apps.cozystack.io/v1alpha1", "Postgres", "named", elsewhere),
		"moved/a.yaml":                   manifest("apps.cozystack.io/v1alpha1", "Postgres", "moved", elsewhere),
		"moved/kustomization.yaml":       "namespace: " + victim + "\nresources: [a.yaml]\n",
		"nested/base/a.yaml":             manifest("apps.cozystack.io/v1alpha1", "Postgres", "nested", elsewhere),
		"nested/base/kustomization.yaml": "resources: [a.yaml]\n",
		"nested/kustomization.yaml":      "resources: [base]\npatches:\n- target: {kind: Postgres}\n  patch: |\n    - {op: replace, path: /metadata/namespace, value: " + victim + "}\n",
	}
	for folder, attempt := range refused {
		for name, content := range attempt.files {
			files[folder+"/"+name] = content
		}
	}
	repository, _ := harness.NewRepository(t, git, "hostile", files)
	var sources []gitopsv1.Source
	add := func(folder string) {
		source := harness.HTTPS(t, cluster.Client, git, tenant, folder, repository)
		source.Path = "./" + folder
		if folder == "patched" {
			source.Patches = []kustomize.Patch{{
				Target: &kustomize.Selector{Kind: "Postgres"},
				Patch:  "- {op: replace, path: /apiVersion, value: v1}\n- {op: replace, path: /kind, value: Secret}\n",
			}}
		}
		sources = append(sources, source)
	}
	for folder := range refused {
		add(folder)
	}
	for _, folder := range []string{"named", "moved", "nested"} {
		add(folder)
	}
	harness.Write(t, cluster.Client, tenant, sources...)
	status := awaitSettled(t, tenant)
	for _, source := range status.Sources {
		attempt, isRefused := refused[source.Name]
		switch {
		case !isRefused && source.Ready != metav1.ConditionTrue:
			t.Errorf("source %s, whose application goes home, is %s: %s", source.Name, source.Reason, source.Message)
		case isRefused && (source.Ready != metav1.ConditionFalse || !strings.Contains(source.Message, attempt.want)):
			t.Errorf("source %s is %s, %s: %s; want a refusal with %q", source.Name, source.Ready, source.Reason, source.Message, attempt.want)
		}
	}
	for _, name := range []string{"named", "moved", "nested"} {
		if !exists(t, fixtures.Application("Postgres", tenant, name)) || exists(t, fixtures.Application("Postgres", victim, name)) {
			t.Errorf("application %s is not in the tenant's own namespace alone", name)
		}
	}
}

// TestUnusableValueStopsOnlyItsSource names Secrets and ConfigMaps with which no request
// can be made, and writes a control character, which the API server takes here and
// refuses in what is stamped. Neither may hold up the other sources, or the end.
func TestUnusableValueStopsOnlyItsSource(t *testing.T) {
	harness.WithOperator(t, cluster, harness.Config())
	git := harness.NewGitServer(t)
	tenant := harness.NewTenant(t, cluster.Client, "tenant-noname")
	repository, commit := harness.NewRepository(t, git, "noname", map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")})
	good := harness.HTTPS(t, cluster.Client, git, tenant, "good", repository)
	secret := harness.HTTPS(t, cluster.Client, git, tenant, "secret", repository)
	secret.Git.SecretRef = &meta.LocalObjectReference{Name: "a/b.gitops"}
	configMap := harness.HTTPS(t, cluster.Client, git, tenant, "configmap", repository)
	configMap.PostBuild = &gitopsv1.PostBuild{SubstituteFrom: []kustomizev1.SubstituteReference{{Kind: "ConfigMap", Name: "a%b"}}}
	control := harness.HTTPS(t, cluster.Client, git, tenant, "control", repository)
	control.Git.Ref = &sourcev1.GitRepositoryRef{Branch: "main\x7f"}
	harness.Write(t, cluster.Client, tenant, secret, configMap, control, good)
	want := map[string]string{
		"secret": "cannot be the name of", "configmap": "cannot be the name of", "control": "control characters are not allowed",
	}
	for _, source := range awaitSettled(t, tenant).Sources {
		switch source.Name {
		case "good":
			if source.Ready != metav1.ConditionTrue || !strings.HasSuffix(source.AppliedRevision, commit) {
				t.Errorf("the good source is %s: %s", source.Reason, source.Message)
			}
		default:
			if source.Ready != metav1.ConditionFalse || !strings.Contains(source.Message, want[source.Name]) {
				t.Errorf("source %s is %s: %s", source.Name, source.Reason, source.Message)
			}
		}
	}
	if err := cluster.Client.Delete(t.Context(), tenantGitOps(tenant)); err != nil {
		t.Fatal(err)
	}
	harness.AwaitGone(t, cluster.Client, tenantGitOps(tenant))
}

// TestUnusableHostStopsOnlyItsSource: an admin may write a host that the operator is then
// refused, by a policy and not for want of rights.
func TestUnusableHostStopsOnlyItsSource(t *testing.T) {
	harness.WithOperator(t, cluster, harness.Config())
	git := harness.NewGitServer(t)
	tenant := harness.NewTenant(t, cluster.Client, "tenant-innerhost")
	repository, commit := harness.NewRepository(t, git, "innerhost", map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")})
	good := harness.HTTPS(t, cluster.Client, git, tenant, "good", repository)
	inner := harness.HTTPS(t, cluster.Client, git, tenant, "first", repository)
	inner.Git.URL = "https://git.corp.internal/apps"
	harness.Write(t, cluster.Client, tenant, inner, good)
	for _, source := range awaitSettled(t, tenant).Sources {
		switch source.Name {
		case "good":
			if source.Ready != metav1.ConditionTrue || !strings.HasSuffix(source.AppliedRevision, commit) {
				t.Errorf("the good source is %s: %s", source.Reason, source.Message)
			}
		default:
			if source.Reason != gitopsv1.ReasonStampFailed || !strings.Contains(source.Message, "is no name of the public DNS") {
				t.Errorf("the other source is %s: %s", source.Reason, source.Message)
			}
		}
	}
	if err := cluster.Client.Delete(t.Context(), tenantGitOps(tenant)); err != nil {
		t.Fatal(err)
	}
	harness.AwaitGone(t, cluster.Client, tenantGitOps(tenant))
}
