package embedded

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/certificates"
	"github.com/cozystack/gitops-operator/e2e/manifests"
	"github.com/cozystack/gitops-operator/e2e/programs"
	packagedefinitions "github.com/cozystack/gitops-operator/e2e/standins/packageoperator/definitions"
)

// Cluster is a running embedded cluster.
type Cluster struct {
	// Config connects as an admin of the group system:masters.
	Config *rest.Config
	// Kubeconfig is the path of the admin's kubeconfig.
	Kubeconfig string
	// Dir holds the cluster's data, and its logs in "logs".
	Dir string
	// Client is an uncached admin's client.
	Client client.Client
	// WebhookPort is a port of loopback that is left to the admission webhooks under
	// test: the API server has no way to a Service.
	WebhookPort int

	options      Options
	ports        ports
	authority    *certificates.Authority
	runnerClient client.Client
	runner       *runner
	// artifactAddress is where source-controller serves artifacts.
	artifactAddress string

	mu        sync.Mutex
	processes map[string]*process
}

type ports struct {
	etcd, etcdPeer, apiServer, controllerManager int
	// applications is 0 until applications are served by a server of their own.
	applications int
	// packageOperator is where the one that was started last serves its counts.
	packageOperator int
}

// Start starts a cluster and waits until it is ready. The programs it needs are built
// if the cache does not hold them. A cluster that fails to start leaves nothing behind
// but the error, which carries the end of the failing program's log.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	c := &Cluster{options: options, processes: map[string]*process{}}
	if err := c.startAll(ctx); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

func (c *Cluster) startAll(ctx context.Context) error {
	c.Dir = c.options.Dir
	if c.Dir == "" {
		dir, err := os.MkdirTemp("", "embedded-cluster-")
		if err != nil {
			return fmt.Errorf("make the embedded cluster's folder: %w", err)
		}
		c.Dir = dir
	}
	c.tell("nothing enforces NetworkPolicies here")
	steps := []func(context.Context) error{
		c.prepare, c.startEtcd, c.startAPIServer, c.awaitDefaultNamespace, c.installCRDs, c.startControllerManager,
	}
	if c.options.Flux {
		steps = append(steps, c.startFlux)
	}
	if c.options.HelmReleases {
		steps = append(steps, c.startHelmController)
	}
	if c.options.PackageOperator {
		steps = append(steps, c.StartPackageOperator)
	}
	if c.options.Runner {
		steps = append(steps, c.startRunner)
	}
	for _, step := range steps {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// prepare draws ports and makes keys and clients; nothing runs yet.
func (c *Cluster) prepare(context.Context) error {
	if err := os.MkdirAll(c.logDir(), 0o755); err != nil {
		return fmt.Errorf("make the embedded cluster's folder: %w", err)
	}
	if err := freePorts(&c.ports.etcd, &c.ports.etcdPeer, &c.ports.apiServer, &c.ports.controllerManager, &c.WebhookPort); err != nil {
		return err
	}
	if err := c.writeAPIServerFiles(); err != nil {
		return err
	}
	config, err := c.UserConfig("admin", adminGroup)
	if err != nil {
		return err
	}
	c.Config, c.Kubeconfig = config, filepath.Join(c.Dir, "kubeconfig")
	return c.writeUserKubeconfig(c.Kubeconfig, config)
}

// awaitDefaultNamespace waits for what a new API server makes by itself, and makes the
// clients, which ask it what it serves.
func (c *Cluster) awaitDefaultNamespace(ctx context.Context) error {
	var err error
	if c.Client, err = c.NewClient(nil); err != nil {
		return err
	}
	// The runner is a user of its own, so that its writes can be told from the admin's.
	runnerConfig, err := c.UserConfig(RunnerUser, adminGroup)
	if err != nil {
		return err
	}
	if c.runnerClient, err = c.newClient(runnerConfig, Scheme()); err != nil {
		return err
	}
	for _, name := range []string{"default", "kube-system"} {
		err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, apiServerTimeout, true, func(ctx context.Context) (bool, error) {
			return c.Client.Get(ctx, client.ObjectKey{Name: name}, &corev1.Namespace{}) == nil, nil
		})
		if err != nil {
			return fmt.Errorf("wait for namespace %s: %w", name, err)
		}
	}
	return nil
}

// installCRDs lays in Flux's kinds and those of the options together, before anything
// watches.
func (c *Cluster) installCRDs(ctx context.Context) error {
	paths := c.options.CRDPaths
	if c.options.Flux {
		fluxPaths, err := fluxCRDPaths(ctx)
		if err != nil {
			return err
		}
		paths = append(fluxPaths, paths...)
	}
	if c.options.Applications == AggregatedApplications || c.options.HelmReleases || c.options.PackageOperator {
		helmReleases, err := HelmReleaseCRDs(ctx)
		if err != nil {
			return err
		}
		paths = append([]string{helmReleases}, paths...)
	}
	definitions, err := manifests.DecodePaths(paths...)
	if err != nil {
		return err
	}
	if c.options.PackageOperator {
		// The operator lays them in itself, but the garbage collector would then take half
		// a minute to learn of them.
		if err := packagedefinitions.Install(ctx, c.Client); err != nil {
			return err
		}
	}
	return manifests.Apply(ctx, c.Client, append(definitions, c.options.CRDs...)...)
}

// start runs a program of the cache; its log is named after it.
func (c *Cluster) start(ctx context.Context, name string, env []string, args ...string) (*process, error) {
	path, err := programs.Path(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	return c.startProgram(name, path, env, args...)
}

// startProgram runs a binary; its log is named after it.
func (c *Cluster) startProgram(name, path string, env []string, args ...string) (*process, error) {
	p, err := start(command{
		name: name, path: path, args: args, env: env,
		dir: filepath.Join(c.Dir, name), logFile: c.logFile(name),
	})
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.processes[name] = p
	return p, nil
}

func (c *Cluster) process(name string) *process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.processes[name]
}

// Stop ends all programs and removes the cluster's folder, unless Options named it.
func (c *Cluster) Stop() error {
	var stopped error
	if c.runner != nil {
		stopped = c.runner.stop()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var group sync.WaitGroup
	for _, p := range c.processes {
		// What they would still put in order is thrown away with the folder.
		group.Go(p.kill)
	}
	group.Wait()
	if c.options.Dir != "" || c.Dir == "" {
		return stopped
	}
	if err := os.RemoveAll(c.Dir); err != nil {
		return errors.Join(stopped, fmt.Errorf("remove the embedded cluster's folder: %w", err))
	}
	return stopped
}

// Kubectl runs kubectl as the admin and returns what it prints.
func (c *Cluster) Kubectl(ctx context.Context, args ...string) (string, error) {
	path, err := programs.Path(ctx, "kubectl")
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.Kubeconfig)
	output, err := cmd.CombinedOutput()
	if err != nil {
		return string(output), fmt.Errorf("kubectl %v: %w: %s", args, err, output)
	}
	return string(output), nil
}

// Logs returns the end of the log of a program (kube-apiserver, source-controller …) or
// of a Deployment that the runner runs.
func (c *Cluster) Logs(name string, lines int) string { return logTail(c.logFile(name), lines) }

// WriteLogs writes the end of every log, of very long lines the beginning.
func (c *Cluster) WriteLogs(w io.Writer, lines int) {
	files, err := filepath.Glob(filepath.Join(c.logDir(), "*.log"))
	if err != nil {
		return
	}
	sort.Strings(files)
	for _, file := range files {
		_, _ = fmt.Fprintf(w, "--- end of %s\n", filepath.Base(file))
		for line := range strings.Lines(logTail(file, lines)) {
			_, _ = fmt.Fprintf(w, "%.400s\n", strings.TrimSuffix(line, "\n"))
		}
	}
}

func (c *Cluster) logDir() string             { return filepath.Join(c.Dir, "logs") }
func (c *Cluster) logFile(name string) string { return filepath.Join(c.logDir(), name+".log") }

func (c *Cluster) tell(format string, args ...any) {
	_, _ = fmt.Fprintf(c.options.Output, "embedded cluster: "+format+"\n", args...)
}

func portFlag(name string, port int) string { return fmt.Sprintf("--%s=%d", name, port) }

// selfSignedTransport is for health checks of servers that made their certificate
// themselves; nothing secret is said to them.
func selfSignedTransport() *http.Transport {
	return &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // G402: they sign for themselves
}
