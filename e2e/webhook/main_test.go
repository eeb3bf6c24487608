package webhook_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/fluxcd/pkg/runtime/logger"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/manifests"
	"github.com/cozystack/gitops-operator/internal/certs"
	"github.com/cozystack/gitops-operator/internal/operator"
	"github.com/cozystack/gitops-operator/internal/webhook"
)

const (
	root     = "../.."
	loopback = "127.0.0.1"
)

var (
	cluster *embedded.Cluster
	// port is the webhook's for all tests, since the configuration names it.
	port int
)

func TestMain(m *testing.M) {
	logger.SetLogger(logger.NewLogger(logger.Options{LogEncoding: "console", LogLevel: "error"}))
	os.Exit(embedded.Main(m, harness.Options(root), func(ctx context.Context, c *embedded.Cluster) error {
		cluster = c
		return install(ctx, c)
	}))
}

// install lays in what the operator needs, with a webhook configuration that leads
// to loopback: the API server has no way to a Service.
func install(ctx context.Context, c *embedded.Cluster) error {
	if err := manifests.ApplyPaths(ctx, c.Client, root+"/config/namespaces", root+"/config/rbac", root+"/config/webhook/certificates.yaml", root+"/config/webhook/operator_role.yaml"); err != nil {
		return err
	}
	if err := fixtures.InstallPlatform(ctx, c.Client); err != nil {
		return err
	}
	var err error
	if port, err = freePort(); err != nil {
		return err
	}
	if err := manifests.ApplyPaths(ctx, c.Client, root+"/config/webhook/configuration.yaml", root+"/config/webhook/validating.yaml"); err != nil {
		return err
	}
	validating := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	if err := c.Client.Get(ctx, client.ObjectKey{Name: webhook.ConfigurationName}, validating); err != nil {
		return err
	}
	for i := range validating.Webhooks {
		address := &validating.Webhooks[i].ClientConfig
		url := fmt.Sprintf("https://%s:%d%s", loopback, port, *address.Service.Path)
		address.Service, address.URL = nil, &url
	}
	if err := c.Client.Update(ctx, validating); err != nil {
		return err
	}
	configuration, err := liveConfiguration(ctx)
	if err != nil {
		return err
	}
	for i := range configuration.Webhooks {
		address := &configuration.Webhooks[i].ClientConfig
		url := fmt.Sprintf("https://%s:%d%s", loopback, port, *address.Service.Path)
		address.Service, address.URL = nil, &url
	}
	return c.Client.Update(ctx, configuration)
}

func liveConfiguration(ctx context.Context) (*admissionregistrationv1.MutatingWebhookConfiguration, error) {
	configuration := &admissionregistrationv1.MutatingWebhookConfiguration{}
	err := cluster.Client.Get(ctx, client.ObjectKey{Name: webhook.ConfigurationName}, configuration)
	return configuration, err
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", loopback+":0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// startOperator runs an operator with its webhook until stop is called, and returns
// the address of its readiness probe.
func startOperator(t *testing.T, lives certs.Lives) (readyz string, stop func()) {
	t.Helper()
	config := harness.Config()
	account, err := cluster.ServiceAccountConfig(t.Context(), config.Stamp.OperatorNamespace, config.Stamp.OperatorAccount)
	if err != nil {
		t.Fatal(err)
	}
	health, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	mgr, err := operator.New(account, operator.Options{
		TenantGitOps: config, MetricsAddress: "0", HealthAddress: fmt.Sprintf("%s:%d", loopback, health), AllowSameName: true,
		Webhook: &webhook.Options{
			Host: loopback, Port: port, Namespace: config.Stamp.OperatorNamespace, CalledBy: loopback,
			Interval: 200 * time.Millisecond,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	keeper, err := cluster.ServiceAccountConfig(t.Context(), config.Stamp.OperatorNamespace, "gitops-operator-certificates")
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(keeper, client.Options{Scheme: operator.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	rotation := &certs.Rotation{
		Client: c, Secret: client.ObjectKey{Namespace: config.Stamp.OperatorNamespace, Name: webhook.CertificatesSecret},
		Configurations: webhook.Configurations(), Hosts: []string{loopback}, Lives: lives, Interval: 200 * time.Millisecond,
	}
	ctx, cancel := context.WithCancel(context.Background())
	rotating := make(chan error, 1)
	go func() { rotating <- rotation.Start(ctx) }()
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-rotating; err != nil {
			t.Errorf("the rotation ended with %v", err)
		}
		if err := <-ended; err != nil {
			t.Errorf("the operator ended with %v", err)
		}
	}
	t.Cleanup(stop)
	return fmt.Sprintf("http://%s:%d/readyz", loopback, health), stop
}

func awaitReady(t *testing.T, readyz string, want int) {
	t.Helper()
	harness.Await(t, fmt.Sprintf("%s to answer %d", readyz, want), func(context.Context) (bool, string) {
		response, err := http.Get(readyz) //nolint:noctx // a probe of the test's own server
		if err != nil {
			return false, err.Error()
		}
		_ = response.Body.Close()
		return response.StatusCode == want, response.Status
	})
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
