package customizer_test

import (
	"flag"
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/cani"
	"github.com/cozystack/gitops-operator/e2e/guards"
	ourscheme "github.com/cozystack/gitops-operator/internal/operator"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file of another package, or writes it.
func golden(t *testing.T, got, want, file string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != want {
		t.Errorf("another result than in %s:\n%s", file, got)
	}
}

// as is a client that acts as somebody.
func as(t *testing.T, user string) client.Client {
	t.Helper()
	config, err := cluster.UserConfig("guards-test", "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	config.Impersonate = rest.ImpersonationConfig{UserName: user}
	if user == guards.Flux() {
		config.Impersonate.Groups = []string{"system:masters"}
	}
	c, err := client.New(config, client.Options{Scheme: ourscheme.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestGuards tries each guard on objects, verbs and fields, as those whom it is for and as
// others. The bootstrap Package is free under both.
func TestGuards(t *testing.T) {
	t.Parallel()
	guarded, _ := newCustomizer(t, "guarded", map[string]string{"a.yaml": packageValues("acme.guarded")})
	guarded.Spec.Guards = gitopsv1.CustomizerGuards{SupplyChain: true, PackageFields: true}
	create(t, guarded)
	unguarded, _ := newCustomizer(t, "unguarded", map[string]string{"a.yaml": packageValues("acme.unguarded")})
	create(t, unguarded)
	one := awaitState(t, guarded.Name, metav1.ConditionTrue, gitopsv1.ReasonSucceeded).Status.Account
	other := awaitState(t, unguarded.Name, metav1.ConditionTrue, gitopsv1.ReasonSucceeded).Status.Account
	if err := guards.Lay(t.Context(), cluster.Client, one, other); err != nil {
		t.Fatal(err)
	}
	var accounts []guards.Account
	for i, c := range []client.Client{as(t, guards.As(one)), as(t, guards.As(other)), as(t, guards.Flux()), cluster.Client} {
		accounts = append(accounts, guards.Account{Name: guards.Names[i], Client: c})
	}
	table, err := guards.Table(t.Context(), accounts)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, table, guards.Golden, root+"/e2e/guards/testdata/guards.golden")
}

// TestWhatAnAccountMayDo compares the profiles with what is written down.
func TestWhatAnAccountMayDo(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		profile      gitopsv1.CustomizerProfile
		owned        []string
		want, golden string
	}{
		"rights-curated":   {gitopsv1.ProfileCurated, cani.Within[:1], cani.Curated, "curated.golden"},
		"rights-overrides": {gitopsv1.ProfileOverridesOnly, nil, cani.OverridesOnly, "overrides_only.golden"},
	} {
		c, _ := newCustomizer(t, name, map[string]string{"a.yaml": packageValues("acme." + name)})
		c.Spec.RBAC.Profile, c.Spec.RBAC.OwnedNamespaces = tc.profile, tc.owned
		create(t, c)
		account := awaitState(t, name, metav1.ConditionTrue, gitopsv1.ReasonSucceeded).Status.Account
		matrix, err := cani.Matrix(t.Context(), cluster.Client, system, account, cani.Within...)
		if err != nil {
			t.Fatal(err)
		}
		golden(t, matrix, tc.want, root+"/e2e/cani/testdata/"+tc.golden)
	}
}
