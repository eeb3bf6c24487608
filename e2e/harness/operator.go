package harness

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime/pprof"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/controllers/tenantgitops"
	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/manifests"
	"github.com/cozystack/gitops-operator/internal/certs"
	"github.com/cozystack/gitops-operator/internal/operator"
	"github.com/cozystack/gitops-operator/internal/stamp"
	"github.com/cozystack/gitops-operator/internal/webhook"
)

// ControllerImage is the image that the stamped controllers run in the tests.
const ControllerImage = "fluxcd/kustomize-controller:v1.9.6"

// Config is the operator's configuration in the tests, quicker than in life.
func Config() tenantgitops.Config {
	return tenantgitops.Config{
		Stamp: stamp.Config{
			ControllersNamespace: "cozy-gitops-tenants",
			OperatorNamespace:    "cozy-gitops",
			OperatorAccount:      "gitops-operator",
			Controller: stamp.ControllerConfig{
				Image: ControllerImage,
				Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{
					corev1.ResourceMemory: resource.MustParse("512Mi"),
				}},
			},
		},
		FluxNamespace:  "cozy-fluxcd",
		DNSNamespace:   "kube-system",
		DNSPodLabels:   map[string]string{"k8s-app": "kube-dns"},
		RolloutBatch:   2,
		FinalizerGrace: 3 * time.Second,
		SiblingGrace:   5 * time.Minute,
		ResyncInterval: 10 * time.Minute,
		PlatformTTL:    time.Second,
		Concurrency:    4,
	}
}

// Options start an embedded cluster with all that the operator is used beside.
// root leads from the test's package to the repository.
func Options(root string) embedded.Options {
	return embedded.Options{
		Flux:     true,
		Runner:   true,
		CRDPaths: []string{root + "/config/crd/bases"},
		Scheme:   operator.Scheme(),
	}
}

// Install puts the operator's namespaces, roles, policies, webhooks and parameters into a
// cluster, and the platform's kinds and roles; the operator itself is started by Start.
// Until it is, nobody answers for the webhooks: a test without an operator takes them
// out by RemoveWebhooks.
func Install(ctx context.Context, c *embedded.Cluster, root string) error {
	if err := InstallWithoutPolicies(ctx, c, root); err != nil {
		return err
	}
	return InstallPolicies(ctx, c, root)
}

// InstallWithoutPolicies puts in all that Install does but the policies: what is taken
// out again is heeded for some moments more.
func InstallWithoutPolicies(ctx context.Context, c *embedded.Cluster, root string) error {
	if err := manifests.Apply(ctx, c.Client, Parameters()); err != nil {
		return err
	}
	if err := manifests.ApplyPaths(ctx, c.Client, root+"/config/namespaces", root+"/config/rbac", root+"/config/tenant-roles"); err != nil {
		return err
	}
	if err := InstallWebhooks(ctx, c, root); err != nil {
		return err
	}
	return InstallPlatform(ctx, c)
}

// Parameters let tenants use the tests' git servers, which listen on loopback, and
// everything that an admin may allow.
func Parameters() *gitopsv1.GitOpsParameters {
	return &gitopsv1.GitOpsParameters{
		TypeMeta:   metav1.TypeMeta{APIVersion: gitopsv1.GroupVersion.String(), Kind: "GitOpsParameters"},
		ObjectMeta: metav1.ObjectMeta{Name: gitopsv1.GitOpsParametersName},
		Spec:       gitopsv1.GitOpsParametersSpec{AllowedHosts: []string{"127.0.0.1"}, AllowSubmodules: true},
	}
}

// Operator is an operator in this process, with its own service account.
type Operator struct {
	// Webhooks is how it serves its webhooks; nil where there are none.
	Webhooks *webhook.Options
	// Probes is the address that its probes are served at.
	Probes string
	// Elected is closed when it has become the leader of several.
	Elected <-chan struct{}

	cancel context.CancelFunc
	// done is closed when the operator has ended, with err.
	done chan struct{}
	err  error
}

// Settings are what a test changes about an operator and what runs beside it.
type Settings struct {
	// Wrap may change how it reaches the API server.
	Wrap func(*rest.Config)
	// Adjust may change its options.
	Adjust func(*operator.Options)
	// Rotate may change how the webhooks' certificate is renewed beside it.
	Rotate func(*certs.Rotation)
	// WithoutRotation renews no certificate beside it.
	WithoutRotation bool
}

// Start starts an operator, which answers for the webhooks too, with what renews their
// certificate. wrap, if given, may change how it reaches the API server.
func Start(ctx context.Context, c *embedded.Cluster, config tenantgitops.Config, wrap func(*rest.Config)) (*Operator, error) {
	return StartWith(ctx, c, config, Settings{Wrap: wrap})
}

// StartWith starts an operator as Start does, with a test's settings.
func StartWith(ctx context.Context, c *embedded.Cluster, config tenantgitops.Config, settings Settings) (*Operator, error) {
	restConfig, err := c.ServiceAccountConfig(ctx, config.Stamp.OperatorNamespace, config.Stamp.OperatorAccount)
	if err != nil {
		return nil, err
	}
	if settings.Wrap != nil {
		settings.Wrap(restConfig)
	}
	webhooks, err := webhookOptions(ctx, c, config)
	if err != nil {
		return nil, err
	}
	probes, err := embedded.FreePort()
	if err != nil {
		return nil, err
	}
	options := operator.Options{
		TenantGitOps: config, Webhook: webhooks, MetricsAddress: "0", AllowSameName: true,
		HealthAddress: net.JoinHostPort(Loopback, strconv.Itoa(probes)),
	}
	if settings.Adjust != nil {
		settings.Adjust(&options)
	}
	mgr, err := operator.New(restConfig, options)
	if err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(context.Background())
	o := &Operator{Webhooks: options.Webhook, Probes: options.HealthAddress, Elected: mgr.Elected(), cancel: cancel, done: make(chan struct{})}
	rotate := func(context.Context) error { return nil }
	if options.Webhook != nil && !settings.WithoutRotation {
		rotation, err := NewRotation(ctx, c, config)
		if err != nil {
			cancel()
			return nil, err
		}
		if settings.Rotate != nil {
			settings.Rotate(rotation)
		}
		rotate = rotation.Start
	}
	go func() {
		defer close(o.done)
		rotated := make(chan error, 1)
		go func() { rotated <- rotate(running) }()
		err := mgr.Start(running)
		// Neither goes on without the other.
		cancel()
		o.err = errors.Join(err, <-rotated)
	}()
	return o, nil
}

// Stop ends the operator and waits for it; it may be called again.
func (o *Operator) Stop() error {
	o.cancel()
	select {
	case <-o.done:
		if o.err != nil {
			// What it still waits for is to be seen here, or nowhere.
			_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
		}
		return o.err
	case <-time.After(Patience):
		_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
		return errors.New("the operator did not stop")
	}
}

// Running says whether the operator has not ended.
func (o *Operator) Running() bool {
	select {
	case <-o.done:
		return false
	default:
		return true
	}
}

// Ready asks the operator's readiness probe, or one check of it.
func (o *Operator) Ready(ctx context.Context, check ...string) error {
	address := "http://" + o.Probes + "/readyz/" + strings.Join(check, "/")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s: %s", address, response.Status, text)
	}
	return err
}

// AwaitReady waits until the operator is ready, as the Service for its webhooks does:
// the API server trusts it from then on.
func (o *Operator) AwaitReady(t *testing.T) {
	t.Helper()
	Await(t, "the operator to be ready", func(ctx context.Context) (bool, string) {
		err := o.Ready(ctx)
		return err == nil, fmt.Sprint(err)
	})
}

// WithOperator runs an operator for the length of a test, and waits until it is ready.
func WithOperator(t *testing.T, c *embedded.Cluster, config tenantgitops.Config) *Operator {
	t.Helper()
	o, err := Start(t.Context(), c, config, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := o.Stop(); err != nil {
			t.Errorf("the operator ended with %v", err)
		}
	})
	o.AwaitReady(t)
	return o
}
