package suites

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/kind"
	"github.com/cozystack/gitops-operator/e2e/manifests"
	"github.com/cozystack/gitops-operator/internal/operator"
)

// parallelTests is how many tests run at a time: they wait for pods most of the time.
const parallelTests = "4"

// deletePatience bounds the deletion of a cluster.
const deletePatience = 2 * time.Minute

// Stage is a cluster with the operator in it.
type Stage struct {
	// Cluster is where everything runs.
	Cluster *kind.Cluster
	// Client is an administrator's, and knows the operator's kinds.
	Client client.Client
	// Clients are an administrator's too, for logs and tokens.
	Clients kubernetes.Interface
	// Git is a git server in a pod.
	Git *gitserver.Remote

	// image is the operator's, in the node.
	image string
	// adminTier says that there is a Customizer.
	adminTier bool
}

// Options say what a package's tests run on.
type Options struct {
	// Flavour is how the platform's Flux runs.
	Flavour kind.Flavour
	// AdminTier has the operator's admin tier, and Packages.
	AdminTier bool
}

// Main creates a cluster for all tests of a package, hands it to ready, runs the tests
// and deletes the cluster, also when it is interrupted; KEEP_CLUSTER in the environment
// keeps it. It returns the code to exit with. When tests fail, it prints what the
// cluster's pods have to say.
func Main(m *testing.M, options Options, ready func(*Stage)) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	name := "suites-" + string(options.Flavour)
	code := 1
	stage, err := start(ctx, name, options)
	if err == nil {
		ready(stage)
		code, err = run(ctx, m)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	if code != 0 && stage != nil {
		stage.describe(os.Stderr)
	}
	if os.Getenv("KEEP_CLUSTER") != "" {
		return code
	}
	ctx, cancel := context.WithTimeout(context.Background(), deletePatience)
	defer cancel()
	if err := kind.Delete(ctx, name); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// run runs the tests, until they end or the process is told to.
func run(ctx context.Context, m *testing.M) (int, error) {
	flag.Parse()
	// Unless somebody has said how many.
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", parallelTests); err != nil {
			return 1, fmt.Errorf("run tests in parallel: %w", err)
		}
	}
	ended := make(chan int, 1)
	go func() { ended <- m.Run() }()
	select {
	case code := <-ended:
		return code, nil
	case <-ctx.Done():
		return 1, errors.New("the tests were interrupted")
	}
}

// start creates the cluster and all that the tests find in it.
func start(ctx context.Context, name string, options Options) (*Stage, error) {
	began := time.Now()
	cluster, err := kind.Create(ctx, kind.Options{Name: name, Flavour: options.Flavour, Log: os.Stdout})
	if err != nil {
		return nil, err
	}
	s := &Stage{Cluster: cluster, adminTier: options.AdminTier}
	if s.Client, err = client.New(cluster.RESTConfig, client.Options{Scheme: operator.Scheme()}); err != nil {
		return nil, fmt.Errorf("make a client of cluster %s: %w", name, err)
	}
	if s.Clients, err = kubernetes.NewForConfig(cluster.RESTConfig); err != nil {
		return nil, fmt.Errorf("make a client of cluster %s: %w", name, err)
	}
	if s.Git, err = cluster.StartGitServer(ctx); err != nil {
		return s, err
	}
	if err := InstallPlatform(ctx, cluster, s.Client); err != nil {
		return s, err
	}
	if options.AdminTier {
		if err := s.servePackages(ctx); err != nil {
			return s, err
		}
	}
	if err := s.loadOperator(ctx); err != nil {
		return s, err
	}
	if err := s.InstallOperator(ctx); err != nil {
		return s, err
	}
	// The git server is a pod, so its name is one of the cluster.
	server, err := url.Parse(s.Git.HTTPS)
	if err != nil {
		return s, fmt.Errorf("read the git server's address: %w", err)
	}
	parameters := harness.Parameters()
	parameters.Spec.AllowedHosts = []string{server.Hostname()}
	if err := manifests.Apply(ctx, s.Client, parameters); err != nil {
		return s, err
	}
	fmt.Printf("the operator runs after %.0fs\n", time.Since(began).Seconds())
	return s, nil
}
