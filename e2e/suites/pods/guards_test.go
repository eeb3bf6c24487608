//go:build kind

package pods_test

import (
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/cani"
	"github.com/cozystack/gitops-operator/e2e/guards"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/kind"
)

// enableAdmin makes a Customizer whose repository overrides one Package, and returns its account.
func enableAdmin(t *testing.T, name string, change func(*gitopsv1.CustomizerSpec)) string {
	t.Helper()
	c, _, commit := stage.NewCustomizer(t, name, map[string]string{
		"values.yaml": "apiVersion: cozystack.io/v1alpha1\nkind: PackageValues\nmetadata: {name: acme." + name + "}\nspec: {components: {web: {values: {replicas: 2}}}}\n",
	})
	change(&c.Spec)
	harness.CreateCustomizer(t, stage.Client, c)
	return harness.AwaitCustomizer(t, stage.Client, name, metav1.ConditionTrue, gitopsv1.ReasonSucceeded, commit).Status.Account
}

// withToken acts with a token of a service account.
func withToken(t *testing.T, namespace, account string) client.Client {
	t.Helper()
	token, err := stage.Clients.CoreV1().ServiceAccounts(namespace).CreateToken(t.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config := rest.AnonymousClientConfig(stage.Cluster.RESTConfig)
	config.BearerToken = token.Status.Token
	acting, err := client.New(config, client.Options{Scheme: stage.Client.Scheme(), Mapper: stage.Client.RESTMapper()})
	if err != nil {
		t.Fatal(err)
	}
	return acting
}

// TestGuards has those whom the guards are for, and others, try each of them with a token of
// their own. The bootstrap Package is free under both.
func TestGuards(t *testing.T) {
	t.Parallel()
	guarded := enableAdmin(t, "guarded", func(spec *gitopsv1.CustomizerSpec) {
		spec.Guards = gitopsv1.CustomizerGuards{SupplyChain: true, PackageFields: true}
	})
	unguarded := enableAdmin(t, "unguarded", func(*gitopsv1.CustomizerSpec) {})
	if err := guards.Lay(t.Context(), stage.Client, guarded, unguarded); err != nil {
		t.Fatal(err)
	}
	var accounts []guards.Account
	for i, c := range []client.Client{
		withToken(t, gitopsv1.CustomizerNamespace, guarded), withToken(t, gitopsv1.CustomizerNamespace, unguarded),
		withToken(t, kind.FluxNamespace, "flux"), stage.Client,
	} {
		accounts = append(accounts, guards.Account{Name: guards.Names[i], Client: c})
	}
	table, err := guards.Table(t.Context(), accounts)
	if err != nil {
		t.Fatal(err)
	}
	if table != guards.Golden {
		t.Errorf("the guards' verdicts are not those of e2e/guards/testdata/guards.golden:\n%s", table)
	}
}

// TestWhatACuratedRepositoryMayDo compares with what is written down.
func TestWhatACuratedRepositoryMayDo(t *testing.T) {
	t.Parallel()
	account := enableAdmin(t, "rights", func(spec *gitopsv1.CustomizerSpec) {
		spec.RBAC.OwnedNamespaces = cani.Within[:1]
	})
	matrix, err := cani.Matrix(t.Context(), stage.Client, gitopsv1.CustomizerNamespace, account, cani.Within...)
	if err != nil {
		t.Fatal(err)
	}
	if matrix != cani.Curated {
		t.Errorf("the account may do something else than in e2e/cani/testdata/curated.golden:\n%s", matrix)
	}
}
