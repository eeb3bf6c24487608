package confinement_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/manifests"
	"github.com/cozystack/gitops-operator/internal/operator"
)

var update = flag.Bool("update", false, "write the golden file anew")

func tenantGitOps() *gitopsv1.TenantGitOps {
	return &gitopsv1.TenantGitOps{ObjectMeta: named(tenant, gitopsv1.TenantGitOpsName)}
}

// verdict says who refused: the roles, a policy, or nobody.
func verdict(err error) string {
	switch {
	case err == nil:
		return "open"
	case strings.Contains(err.Error(), "ValidatingAdmissionPolicy"):
		return "policy"
	case apierrors.IsForbidden(err):
		return "roles"
	default:
		return "error: " + err.Error()
	}
}

// TestStolenToken tries everything with the policies and without them, and compares
// with what is written down.
func TestStolenToken(t *testing.T) {
	admin := cluster.Client
	for _, namespace := range []string{tenant, other} {
		harness.NewTenant(t, admin, namespace)
	}
	serveCilium(t, cluster)
	layPackage(t, admin)
	platform := &corev1.Namespace{ObjectMeta: named("", "cozy-system")}
	if err := admin.Create(t.Context(), platform); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	harness.WriteSecret(t, admin, tenant, "theirs.gitops", map[string]string{"a": "b"})
	harness.WriteSecret(t, admin, tenant, "cozystack-values", map[string]string{"values.yaml": "{}"})
	repository := gitopsv1.Source{Name: "apps", Git: &gitopsv1.GitSource{URL: "https://example.org/acme"}}
	harness.Write(t, admin, tenant, repository)
	for _, obj := range []client.Object{
		&corev1.ServiceAccount{ObjectMeta: named(tenant, "theirs")},
		theirSource(), theirSuspendedSource(),
		&networkingv1.NetworkPolicy{ObjectMeta: named("cozy-gitops-tenants", "kustomize-controller-"+other)},
		// The API server lets nobody bind a Role that is not there.
		&rbacv1.Role{ObjectMeta: named(other, "kustomize-controller")},
		&rbacv1.Role{ObjectMeta: named(other, other+"-gitops")},
		&rbacv1.RoleBinding{ObjectMeta: named("kube-system", "victim"), RoleRef: rbacv1.RoleRef{
			APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: tenantRole,
		}},
	} {
		if err := admin.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
	}
	config, err := cluster.ServiceAccountConfig(t.Context(), "cozy-gitops", "gitops-operator")
	if err != nil {
		t.Fatal(err)
	}
	thief, err := client.New(config, client.Options{Scheme: operator.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	awaitPolicies(t, thief, "policy")
	// The thief goes where the operator may go.
	self := &rbacv1.RoleBinding{ObjectMeta: named(tenant, "gitops-operator-for-"+tenant),
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: tenantRole},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Namespace: "cozy-gitops", Name: "gitops-operator"}}}
	if err := thief.Create(t.Context(), self); err != nil {
		t.Fatal(err)
	}
	harness.Await(t, "the thief's binding to take effect", func(ctx context.Context) (bool, string) {
		err := thief.List(ctx, &corev1.SecretList{}, client.InNamespace(tenant))
		return err == nil, fmt.Sprint(err)
	})
	on := walk(t, thief, attempts())
	withoutPolicies(t)
	awaitPolicies(t, thief, "open")
	off := walk(t, thief, attempts())
	wantGolden(t, "testdata/stolen_token.golden", attempts(), on, off)
}

// wantGolden compares what came of the attempts with what is written down.
func wantGolden(t *testing.T, goldenFile string, attempts []attempt, on, off map[string]string) {
	t.Helper()
	var lines []string
	for _, a := range attempts {
		lines = append(lines, fmt.Sprintf("%-84s with policies: %-8s without: %s", a.name, on[a.name], off[a.name]))
	}
	got := strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile(goldenFile, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("another result than in %s:\n%s", goldenFile, got)
	}
}

func walk(t *testing.T, thief client.Client, attempts []attempt) map[string]string {
	t.Helper()
	results := map[string]string{}
	for _, a := range attempts {
		results[a.name] = verdict(a.try(t.Context(), thief))
		if strings.HasPrefix(results[a.name], "error") {
			t.Errorf("%s: %s", a.name, results[a.name])
		}
	}
	return results
}

// awaitPolicies waits until each policy is in force, or none is: the API server learns
// of them one by one.
func awaitPolicies(t *testing.T, thief client.Client, want string) {
	t.Helper()
	probes := []attempt{
		create("", binding("kube-system", "theft", "ClusterRole", tenantRole, "cozy-gitops", "gitops-operator")),
		create("", deployment("cozy-gitops-tenants", "theft", "theft", "", "")),
		patch("", tenantGitOps(), `{"spec":{"suspend":true}}`),
		create("", `{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {namespace: cozy-fluxcd, name: theft}, spec: {podSelector: {}}}`),
		create("", ciliumPolicy("CiliumClusterwideNetworkPolicy", "", "theft", "nodeSelector: {}")),
		create("", `{apiVersion: v1, kind: ServiceAccount, metadata: {namespace: cozy-gitops-tenants, name: theft}}`),
		patch("", platformKind("HelmRelease", plain), `{"spec":{"suspend":true}}`),
		patchStatus("", platformKind("Package", theirPackage), `{"status":{"conditions":null}}`),
	}
	if want == "open" {
		probes = append(probes,
			create("", role(tenant, "theft", `{apiGroups: [""], resources: [configmaps], verbs: [get]}`)),
			create("", secret(tenant, "theft", managed, "}, type: Opaque")),
			create("", kustomization(tenant, "", "")),
			create("", `{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {namespace: tenant-robbed, name: theft}, spec: {interval: 1m, url: "https://example.org/a"}}`))
	}
	awaitVerdict(t, thief, want, probes)
}

// awaitVerdict waits until each of the attempts has the same verdict.
func awaitVerdict(t *testing.T, thief client.Client, want string, probes []attempt) {
	t.Helper()
	harness.Await(t, "the policies to be "+want, func(ctx context.Context) (bool, string) {
		for i, probe := range probes {
			if got := verdict(probe.try(ctx, thief)); got != want {
				return false, fmt.Sprintf("%d: %s", i, got)
			}
		}
		return true, ""
	})
}

// withoutPolicies takes the bindings of all policies away until the test ends, also of
// those for tenants, which refuse the operator some of it as well.
func withoutPolicies(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		if err := manifests.ApplyPaths(context.Background(), cluster.Client, root+"/config/policies"); err != nil {
			t.Error(err)
		}
	})
	var bindings admissionv1.ValidatingAdmissionPolicyBindingList
	if err := cluster.Client.List(t.Context(), &bindings); err != nil {
		t.Fatal(err)
	}
	for i := range bindings.Items {
		if strings.HasPrefix(bindings.Items[i].Name, "gitops-") {
			if err := cluster.Client.Delete(t.Context(), &bindings.Items[i]); err != nil {
				t.Fatal(err)
			}
		}
	}
}
