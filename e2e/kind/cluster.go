package kind

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/cozystack/gitops-operator/e2e/programs"
)

// DefaultName is the name of a cluster whose options give none.
const DefaultName = "gitops-operator"

// Options say which cluster to create.
type Options struct {
	// Name tells clusters of one machine apart; DefaultName if it is empty.
	Name string
	// Flavour says how Flux runs in it; FluxInPods if it is empty.
	Flavour Flavour
	// Keep uses a cluster of that name that runs and was made of the same inputs, with all
	// that is in it. KEEP_CLUSTER set in the environment does the same.
	Keep bool
	// Log is told what is being done; nil for nobody.
	Log io.Writer
}

// Cluster is a running cluster.
type Cluster struct {
	// Name is its name.
	Name string
	// Kubeconfig is the path of a file with an administrator's access.
	Kubeconfig string
	// RESTConfig is the same access, for clients.
	RESTConfig *rest.Config
	// NodeAddress is the node's address, at which the machine reaches NodePort Services.
	NodeAddress string

	docker dockerClient
	cache  string
	node   string
	log    io.Writer

	probeImage       sync.Mutex
	probeImageLoaded bool
}

// Available tells whether this machine can have a cluster: nil if it can, ErrUnavailable
// with what is missing if not. It installs and starts what it may.
func Available(ctx context.Context, log io.Writer) error {
	cache, err := cacheFolder()
	if err != nil {
		return err
	}
	if _, err := openDocker(ctx, log, cache); err != nil {
		return err
	}
	if os.Getenv("NODE_IMAGE") != "" {
		return nil
	}
	return requireDebianRoot(ctx, log, cache)
}

// Create creates a cluster with Flux in it, and waits until both are ready. A cluster of
// the same name is deleted first, unless it may be kept.
func Create(ctx context.Context, options Options) (*Cluster, error) {
	options = options.withDefaults()
	cache, err := cacheFolder()
	if err != nil {
		return nil, err
	}
	// One cluster at a time: the next one's creation would only slow this one's, and the
	// daemon must not be ended between its start and the first node.
	unlock, err := programs.Lock(ctx, createLock(cache))
	if err != nil {
		return nil, err
	}
	defer unlock()
	docker, err := openDocker(ctx, options.Log, cache)
	if err != nil {
		return nil, err
	}
	image, err := nodeImage(ctx, options.Log, docker, cache)
	if err != nil {
		return nil, err
	}
	config, err := clusterConfig(ctx, docker)
	if err != nil {
		return nil, err
	}
	cluster := &Cluster{
		Name: options.Name, Kubeconfig: filepath.Join(cache, "clusters", options.Name, "kubeconfig"),
		docker: docker, cache: cache, node: options.Name + "-control-plane", log: options.Log,
	}
	inputs, err := clusterInputs(image, config, options.Flavour)
	if err != nil {
		return nil, err
	}
	if options.Keep && cluster.runsWith(ctx, inputs) {
		fmt.Fprintf(options.Log, "using the cluster %s that runs\n", options.Name)
		return cluster, nil
	}
	if err := cluster.create(ctx, image, config, options.Flavour); err != nil {
		return nil, errors.Join(err, cluster.diagnose(ctx))
	}
	return cluster, cluster.remember(inputs)
}

func (o Options) withDefaults() Options {
	if o.Name == "" {
		o.Name = DefaultName
	}
	if o.Flavour == "" {
		o.Flavour = FluxInPods
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	o.Keep = o.Keep || os.Getenv("KEEP_CLUSTER") != ""
	return o
}

func cacheFolder() (string, error) {
	cache, err := programs.CacheDir()
	return filepath.Join(cache, "kind"), err
}

func (c *Cluster) create(ctx context.Context, image, config string, flavour Flavour) error {
	if err := c.removeNodes(ctx); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.Kubeconfig), 0o755); err != nil {
		return fmt.Errorf("create cluster %s: %w", c.Name, err)
	}
	fmt.Fprintf(c.log, "creating the cluster %s\n", c.Name)
	if err := c.boot(ctx, image, config); err != nil {
		return err
	}
	if err := c.connect(ctx); err != nil {
		return err
	}
	if os.Getenv("NODE_IMAGE") == "" {
		if err := c.installDNS(ctx); err != nil {
			return err
		}
	}
	fmt.Fprintf(c.log, "installing Flux, %s\n", flavour)
	return c.installFlux(ctx, flavour)
}

// boot runs "kind create cluster".
func (c *Cluster) boot(ctx context.Context, image, config string) error {
	kind, err := programs.Path(ctx, "kind")
	if err != nil {
		return err
	}
	cmd := c.docker.toolCommand(ctx, kind, "create", "cluster", "--name", c.Name, "--image", image, "--kubeconfig", c.Kubeconfig, "--config", "-", "--retain")
	cmd.Stdin = strings.NewReader(config)
	if _, err := output(cmd); err != nil {
		return fmt.Errorf("create cluster %s: %w", c.Name, err)
	}
	return nil
}

// connect reads the cluster's access and addresses.
func (c *Cluster) connect(ctx context.Context) error {
	config, err := clientcmd.BuildConfigFromFlags("", c.Kubeconfig)
	if err != nil {
		return fmt.Errorf("connect to cluster %s: %w", c.Name, err)
	}
	// Tests are few clients that ask much.
	config.QPS, config.Burst = 200, 400
	address, err := output(c.docker.command(ctx, "inspect", "--format", "{{.NetworkSettings.Networks.kind.IPAddress}}", c.node))
	if err != nil {
		return fmt.Errorf("connect to cluster %s: %w", c.Name, err)
	}
	c.RESTConfig, c.NodeAddress = config, strings.TrimSpace(address)
	return nil
}

// Delete deletes the cluster, and ends the Docker daemon if it is ours and no other
// cluster is left on it.
func (c *Cluster) Delete(ctx context.Context) error {
	if err := c.removeNodes(ctx); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Dir(c.Kubeconfig)); err != nil {
		return fmt.Errorf("delete cluster %s: %w", c.Name, err)
	}
	return stopDaemonIfIdle(ctx, c.docker, c.cache)
}

func (c *Cluster) removeNodes(ctx context.Context) error {
	nodes, err := c.docker.nodes(ctx, c.Name)
	if err == nil {
		err = c.docker.remove(ctx, nodes)
	}
	if err != nil {
		return fmt.Errorf("remove nodes of cluster %s: %w", c.Name, err)
	}
	return nil
}

// Delete deletes the cluster of a name, if there is one, and ends the Docker daemon if it
// is ours and no other cluster is left on it. It starts no daemon.
func Delete(ctx context.Context, name string) error {
	cache, err := cacheFolder()
	if err != nil {
		return err
	}
	docker := dockerClient{}
	if ours := newDaemon(cache); ours.runs() {
		docker = ours.client()
	} else if err := ours.clearLeftovers(); err != nil {
		return err
	}
	if !docker.answers(ctx) {
		return nil
	}
	cluster := &Cluster{Name: name, Kubeconfig: filepath.Join(cache, "clusters", name, "kubeconfig"), docker: docker, cache: cache}
	return cluster.Delete(ctx)
}

// stopDaemonIfIdle ends a daemon of our own that has no cluster left.
func stopDaemonIfIdle(ctx context.Context, docker dockerClient, cache string) error {
	ours := newDaemon(cache)
	if docker != ours.client() {
		return nil
	}
	unlock, err := programs.Lock(ctx, createLock(cache))
	if err != nil {
		return err
	}
	defer unlock()
	nodes, err := docker.nodes(ctx, "")
	if err != nil || len(nodes) > 0 {
		return err
	}
	if err := docker.removeKindNetwork(ctx); err != nil {
		return err
	}
	return ours.stop(ctx)
}

func createLock(cache string) string { return filepath.Join(cache, "create.lock") }
