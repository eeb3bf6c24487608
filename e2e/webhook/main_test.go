package webhook_test

import (
	"context"
	"os"
	"testing"

	"github.com/fluxcd/pkg/runtime/logger"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/operator"
)

// root leads from this package to the repository.
const root = "../.."

// cluster has the operator's webhook configuration, which leads to loopback.
var cluster *embedded.Cluster

func TestMain(m *testing.M) {
	logger.SetLogger(logger.NewLogger(logger.Options{LogEncoding: "console", LogLevel: "error"}))
	os.Exit(embedded.Main(m, harness.Options(root), func(ctx context.Context, c *embedded.Cluster) error {
		cluster = c
		// What the webhook holds, it holds by itself.
		return harness.InstallWithoutPolicies(ctx, c, root)
	}))
}

// startOperator runs an operator until the test's end, or until it is stopped.
func startOperator(t *testing.T, settings harness.Settings) *harness.Operator {
	t.Helper()
	o, err := harness.StartWith(t.Context(), cluster, harness.Config(), settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, o) })
	return o
}

func stop(t *testing.T, o *harness.Operator) {
	t.Helper()
	if err := o.Stop(); err != nil {
		t.Errorf("the operator ended with %v", err)
	}
}

// tenantUser may write Kustomizations in a tenant's namespace.
func tenantUser(t *testing.T, namespace string) client.Client {
	t.Helper()
	user := "ann-of-" + namespace
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "writes-kustomizations"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"kustomize.toolkit.fluxcd.io"}, Resources: []string{"kustomizations"}, Verbs: []string{"*"}}},
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}
	for _, object := range []client.Object{role, binding} {
		if err := cluster.Client.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	config, err := cluster.UserConfig(user)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(config, client.Options{Scheme: operator.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
