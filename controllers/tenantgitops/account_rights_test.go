package tenantgitops_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/manifests"
)

var update = flag.Bool("update", false, "write golden files anew")

// question is one thing that an account may or may not do.
type question struct {
	namespace, group, resource, subresource, name, verb string
}

func (q question) String() string {
	resource := q.resource
	if q.group != "" {
		resource += "." + q.group
	}
	if q.subresource != "" {
		resource += "/" + q.subresource
	}
	if q.name != "" {
		resource += " " + q.name
	}
	where := q.namespace
	if where == "" {
		where = "(cluster)"
	}
	return fmt.Sprintf("%-22s %-60s %s", where, resource, q.verb)
}

var verbs = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "impersonate", "bind", "escalate"}

// questions asks for every verb on every resource of discovery, in each
// namespace, and for some objects by name.
func questions(t *testing.T, namespaces []string, named []question) []question {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(cluster.Config)
	if err != nil {
		t.Fatal(err)
	}
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	var all []question
	seen := map[question]bool{}
	add := func(q question) {
		if !seen[q] {
			seen[q] = true
			all = append(all, q)
		}
	}
	for _, list := range lists {
		group, _, hasGroup := strings.Cut(list.GroupVersion, "/")
		if !hasGroup {
			group = ""
		}
		for _, resource := range list.APIResources {
			name, subresource, _ := strings.Cut(resource.Name, "/")
			for _, verb := range verbs {
				for _, namespace := range append([]string{""}, namespaces...) {
					if namespace != "" && !resource.Namespaced {
						continue
					}
					add(question{namespace, group, name, subresource, "", verb})
				}
			}
		}
	}
	for _, q := range named {
		add(q)
	}
	return all
}

// mayDo asks the API server's authorizer, and returns what is allowed.
func mayDo(t *testing.T, namespace, account string, all []question) map[question]bool {
	t.Helper()
	allowed := map[question]bool{}
	var mu sync.Mutex
	var group sync.WaitGroup
	work := make(chan question)
	for range 16 {
		group.Go(func() {
			for q := range work {
				review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
					User:   "system:serviceaccount:" + namespace + ":" + account,
					Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"},
					ResourceAttributes: &authorizationv1.ResourceAttributes{
						Namespace: q.namespace, Verb: q.verb, Group: q.group, Resource: q.resource, Subresource: q.subresource, Name: q.name,
					},
				}}
				if err := cluster.Client.Create(context.Background(), review); err != nil {
					t.Errorf("cannot ask whether %s may %s: %v", account, q, err)
					continue
				}
				if review.Status.Allowed {
					mu.Lock()
					allowed[q] = true
					mu.Unlock()
				}
			}
		})
	}
	for _, q := range all {
		work <- q
	}
	close(work)
	group.Wait()
	return allowed
}

// golden compares lines with a file under testdata, or writes it with -update.
func golden(t *testing.T, name string, lines []string) {
	t.Helper()
	slices.Sort(lines)
	got := strings.Join(lines, "\n") + "\n"
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	wanted := strings.Split(strings.TrimSuffix(string(want), "\n"), "\n")
	for _, line := range lines {
		if !slices.Contains(wanted, line) {
			t.Errorf("%s: may, and should not:   %s", name, line)
		}
	}
	for _, line := range wanted {
		if !slices.Contains(lines, line) {
			t.Errorf("%s: may not, and should:   %s", name, line)
		}
	}
}

// TestAccountsMayDoWhatTheyNeedAndNothingElse compares the accounts of a tenant
// with a bare service account over the whole of discovery, in the tenant's
// namespace, in those around it and in the whole cluster.
func TestAccountsMayDoWhatTheyNeedAndNothingElse(t *testing.T) {
	harness.WithOperator(t, cluster, harness.Config())
	const tenant, parent, other = "tenant-rights-a", "tenant-rights", "tenant-rightsb"
	for _, namespace := range []string{tenant, other} {
		harness.NewTenant(t, cluster.Client, namespace)
	}
	source := unreachable("apps")
	source.Git.SecretRef = &meta.LocalObjectReference{Name: "git.gitops"}
	source.Decryption = &gitopsv1.Decryption{SecretRef: &meta.LocalObjectReference{Name: "keys.gitops"}}
	source.PostBuild = &gitopsv1.PostBuild{SubstituteFrom: []kustomizev1.SubstituteReference{
		{Kind: "Secret", Name: "vars.gitops"}, {Kind: "ConfigMap", Name: "vars"},
	}}
	harness.Write(t, cluster.Client, tenant, source)
	harness.AwaitExists(t, cluster.Client, &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: "gitops-apps"}})
	bare := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "cozy-gitops-tenants", Name: "bare"}}
	if err := cluster.Client.Create(t.Context(), bare); err != nil {
		t.Fatal(err)
	}

	named := []question{
		{tenant, "", "serviceaccounts", "", tenant + "-gitops", "impersonate"},
		{tenant, "", "serviceaccounts", "", tenant, "impersonate"},
		{tenant, "", "serviceaccounts", "", "default", "impersonate"},
		{other, "", "serviceaccounts", "", tenant + "-gitops", "impersonate"},
		// source-controller reads the Secret for git, with its own account.
		{tenant, "", "secrets", "", "git.gitops", "get"},
		{tenant, "", "secrets", "", "keys.gitops", "get"},
		{tenant, "", "secrets", "", "vars.gitops", "get"},
		{tenant, "", "secrets", "", "cozystack-values", "get"},
		{tenant, "", "configmaps", "", "vars", "get"},
		{tenant, "", "configmaps", "", "kube-root-ca.crt", "get"},
		{other, "", "secrets", "", "keys.gitops", "get"},
		{"cozy-gitops-tenants", "coordination.k8s.io", "leases", "", "any", "update"},
	}
	all := questions(t, []string{tenant, parent, other, "cozy-fluxcd", "cozy-gitops", "cozy-gitops-tenants", "kube-system"}, named)
	nobody := mayDo(t, bare.Namespace, bare.Name, all)
	t.Logf("asked %d questions for each account; a bare one may do %d", len(all), len(nobody))

	for _, account := range []struct{ namespace, name, golden string }{
		{"cozy-gitops-tenants", "kustomize-controller-" + tenant, "controller-account.golden"},
		{tenant, tenant + "-gitops", "git-account.golden"},
	} {
		var more []string
		for q := range mayDo(t, account.namespace, account.name, all) {
			if nobody[q] {
				continue
			}
			more = append(more, q.String())
			if q.namespace != tenant {
				t.Errorf("%s may do something outside the tenant's namespace: %s", account.name, q)
			}
			if q.resource == "secrets" && q.verb != "get" || q.resource == "secrets" && q.name == "" {
				t.Errorf("%s may do this to Secrets: %s", account.name, q)
			}
		}
		golden(t, account.golden, more)
	}
}

// TestRolesHoldNoStar looks through every role that is installed or stamped for
// one that allows everything of something.
func TestRolesHoldNoStar(t *testing.T) {
	harness.WithOperator(t, cluster, harness.Config())
	tenant := harness.NewTenant(t, cluster.Client, "tenant-nostar")
	harness.Write(t, cluster.Client, tenant, unreachable("apps"))
	harness.AwaitExists(t, cluster.Client, &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: "gitops-apps"}})

	rules := map[string][]rbacv1.PolicyRule{}
	for _, name := range []string{"gitops-operator", "gitops-operator-tenant-namespace"} {
		role := &rbacv1.ClusterRole{}
		if err := cluster.Client.Get(t.Context(), client.ObjectKey{Name: name}, role); err != nil {
			t.Fatal(err)
		}
		rules["ClusterRole "+name] = role.Rules
	}
	var roles rbacv1.RoleList
	if err := cluster.Client.List(t.Context(), &roles); err != nil {
		t.Fatal(err)
	}
	for _, role := range roles.Items {
		if role.Name == "gitops-operator" || role.Namespace == tenant {
			rules["Role "+role.Namespace+"/"+role.Name] = role.Rules
		}
	}
	if len(rules) < 8 {
		t.Fatalf("only %d roles found", len(rules))
	}
	for role, list := range rules {
		for _, rule := range list {
			stars := slices.Contains(rule.APIGroups, "*") || slices.Contains(rule.Verbs, "*")
			// The one star that the design allows.
			inNamespace := role == "ClusterRole gitops-operator-tenant-namespace" && slices.Equal(rule.APIGroups, []string{fixtures.Group})
			if slices.Contains(rule.Resources, "*") && !inNamespace {
				stars = true
			}
			if stars || slices.Contains(rule.Verbs, "escalate") {
				t.Errorf("%s: %+v", role, rule)
			}
			if slices.Contains(rule.Resources, "secrets") && role != "ClusterRole gitops-operator-tenant-namespace" && len(rule.ResourceNames) == 0 {
				t.Errorf("%s reads Secrets without naming them: %+v", role, rule)
			}
		}
	}
}

// TestEveryRuleOfTheOperatorResolves looks up each kind that the operator's roles
// name: a rule for a kind that does not exist grants nothing, and is a mistake
// that nobody sees.
func TestEveryRuleOfTheOperatorResolves(t *testing.T) {
	client, err := discovery.NewDiscoveryClientForConfig(cluster.Config)
	if err != nil {
		t.Fatal(err)
	}
	_, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	served := map[string]bool{}
	for _, list := range lists {
		group, _, hasGroup := strings.Cut(list.GroupVersion, "/")
		if !hasGroup {
			group = ""
		}
		for _, resource := range list.APIResources {
			served[group+"/"+resource.Name] = true
			// Finalizers are a right of their own, and no resource of discovery.
			served[group+"/"+resource.Name+"/finalizers"] = true
		}
	}
	// Served on a Cozystack, and not on the test's cluster.
	elsewhere := map[string]bool{"cilium.io": true, "helm.toolkit.fluxcd.io": true}
	objects, err := manifests.DecodePaths(root + "/config/rbac")
	if err != nil {
		t.Fatal(err)
	}
	looked := 0
	for _, obj := range objects {
		content := obj.(*unstructured.Unstructured).Object
		rules, _, _ := unstructured.NestedSlice(content, "rules")
		for _, rule := range rules {
			rule := rule.(map[string]any)
			groups, _, _ := unstructured.NestedStringSlice(rule, "apiGroups")
			resources, _, _ := unstructured.NestedStringSlice(rule, "resources")
			for _, group := range groups {
				for _, resource := range resources {
					looked++
					if !served[group+"/"+resource] && !elsewhere[group] && resource != "*" {
						t.Errorf("%s %s: nothing serves %s of %q", obj.GetObjectKind().GroupVersionKind().Kind, obj.GetName(), resource, group)
					}
				}
			}
		}
	}
	if looked < 30 {
		t.Errorf("only %d resources found in the roles", looked)
	}
}
