package validating_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/fluxcd/pkg/runtime/logger"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/operator"
)

// root leads from this package to the repository.
const root = "../.."

// cluster has the operator's policies and webhooks; Flux runs beside it.
var cluster *embedded.Cluster

func TestMain(m *testing.M) {
	logger.SetLogger(logger.NewLogger(logger.Options{LogEncoding: "console", LogLevel: "error"}))
	os.Exit(embedded.Main(m, harness.Options(root), func(ctx context.Context, c *embedded.Cluster) error {
		cluster = c
		return harness.Install(ctx, c, root)
	}))
}

// withoutPolicies takes the admission policies away until the test ends: they refuse some
// of it before the webhooks are asked (e2e/isolation tries them).
func withoutPolicies(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		if err := harness.InstallPolicies(context.Background(), cluster, root); err != nil {
			t.Error(err)
		}
	})
	if err := harness.RemovePolicies(t.Context(), cluster, root); err != nil {
		t.Fatal(err)
	}
	probe := tenantAdmin(t, harness.NewTenant(t, cluster.Client, "tenant-unheld"))
	harness.Await(t, "the policies to be gone", func(ctx context.Context) (bool, string) {
		err := probe.Create(ctx, rawGit("tenant-unheld", "probe"), client.DryRunAll)
		return err == nil || !strings.Contains(err.Error(), "ValidatingAdmissionPolicy"), fmt.Sprint(err)
	})
	if err := cluster.Client.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "tenant-unheld"}}); err != nil {
		t.Fatal(err)
	}
	harness.AwaitGone(t, cluster.Client, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "tenant-unheld"}})
}

// tenantAdmin is the client of a person in the group of a tenant's admins, who may also
// write Flux's sources there, as some platforms let them.
func tenantAdmin(t *testing.T, namespace string) client.Client {
	t.Helper()
	group := namespace + "-admin"
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "writes-sources"},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{"source.toolkit.fluxcd.io"}, Resources: []string{"*"},
			Verbs: []string{"get", "list", "create", "update", "patch", "delete"},
		}},
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: group}},
	}
	for _, object := range []client.Object{role, binding} {
		if err := cluster.Client.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	config, err := cluster.UserConfig("ann", group)
	if err != nil {
		t.Fatal(err)
	}
	return clientOf(t, config)
}

// account is the client of a service account.
func account(t *testing.T, namespace, name string) client.Client {
	t.Helper()
	config, err := cluster.ServiceAccountConfig(t.Context(), namespace, name)
	if err != nil {
		t.Fatal(err)
	}
	return clientOf(t, config)
}

func clientOf(t *testing.T, config *rest.Config) client.Client {
	t.Helper()
	c, err := client.New(config, client.Options{Scheme: operator.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// wantRefused expects the answer of a webhook, with all the parts in its sentence.
func wantRefused(t *testing.T, what string, err error, parts ...string) {
	t.Helper()
	refused := apierrors.IsForbidden(err) && strings.Contains(fmt.Sprint(err), "gitops.cozystack.io\" denied the request")
	for _, part := range parts {
		refused = refused && strings.Contains(err.Error(), part)
	}
	if !refused {
		t.Errorf("%s: it should be refused by the operator with %q; the answer was: %v", what, parts, err)
	}
}

func wantPassed(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
}
