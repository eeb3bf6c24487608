package embedded

import (
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/manifests"
	"github.com/cozystack/gitops-operator/e2e/programs"
)

const (
	// FluxNamespace is where the platform's own Flux lives.
	FluxNamespace = "cozy-fluxcd"

	sourceController    = "source-controller"
	kustomizeController = "kustomize-controller"
	shardSelectorFlag   = "watch-label-selector"
	fluxTimeout         = time.Minute
)

//go:embed flux-separate.yaml
var fluxSeparate []byte

//go:embed flux-host-network.yaml
var fluxHostNetwork []byte

// fluxCRDPaths are the folders with the CRDs of the very programs that run.
func fluxCRDPaths(ctx context.Context) ([]string, error) {
	var paths []string
	for _, program := range []string{sourceController, kustomizeController} {
		dir, err := programs.ModuleDir(ctx, program, "github.com/fluxcd/"+program)
		if err != nil {
			return nil, err
		}
		paths = append(paths, filepath.Join(dir, "config", "crd", "bases"))
	}
	return paths, nil
}

// startFlux lays in the objects that a cluster with Flux has, and runs each container
// of their Deployments as a process, with the container's own arguments.
func (c *Cluster) startFlux(ctx context.Context) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: FluxNamespace, Labels: map[string]string{"cozystack.io/system": "true"},
	}}
	if err := manifests.Apply(ctx, c.Client, namespace); err != nil {
		return err
	}
	layout := fluxSeparate
	if c.options.FluxOnHostNetwork {
		layout = fluxHostNetwork
	}
	objects, err := manifests.Decode(layout)
	if err != nil {
		return err
	}
	var deployments []*appsv1.Deployment
	for _, object := range objects {
		applied := client.Object(object)
		if object.GetKind() == "Deployment" {
			deployment := &appsv1.Deployment{}
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, deployment); err != nil {
				return fmt.Errorf("read Flux's Deployment %s: %w", object.GetName(), err)
			}
			if c.options.FluxWithoutShardSelector {
				dropShardSelector(deployment)
			}
			deployments = append(deployments, deployment)
			applied = deployment
		}
		if err := manifests.Apply(ctx, c.Client, applied); err != nil {
			return err
		}
	}
	for _, deployment := range deployments {
		for _, container := range deployment.Spec.Template.Spec.Containers {
			if err := c.startFluxContainer(ctx, deployment, container); err != nil {
				return err
			}
		}
		if err := c.reportReady(ctx, client.ObjectKeyFromObject(deployment)); err != nil {
			return err
		}
	}
	return nil
}

// dropShardSelector makes kustomize-controller one that takes every Kustomization.
func dropShardSelector(deployment *appsv1.Deployment) {
	containers := deployment.Spec.Template.Spec.Containers
	for i := range containers {
		if programOf(containers[i].Image) != kustomizeController {
			continue
		}
		containers[i].Args = slices.DeleteFunc(containers[i].Args, func(arg string) bool {
			return strings.HasPrefix(arg, "--"+shardSelectorFlag+"=")
		})
	}
}

func (c *Cluster) startFluxContainer(ctx context.Context, deployment *appsv1.Deployment, container corev1.Container) error {
	program := programOf(container.Image)
	dir := filepath.Join(c.Dir, program)
	account := deployment.Spec.Template.Spec.ServiceAccountName
	token, err := c.mintToken(ctx, FluxNamespace, account, nil)
	if err != nil {
		return err
	}
	kubeconfig, err := c.writeTokenKubeconfig(filepath.Join(dir, "credentials"), FluxNamespace, token.Token)
	if err != nil {
		return err
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: deployment.Name, Namespace: FluxNamespace}}
	env, values, err := containerEnvironment(container, pod)
	if err != nil {
		return err
	}
	var health, metrics, storage int
	if err := freePorts(&health, &metrics, &storage); err != nil {
		return err
	}
	flags := map[string]string{
		"health-addr": loopback(health), "metrics-addr": loopback(metrics),
		// No notification-controller listens.
		"events-addr": "",
	}
	if program == sourceController {
		data := filepath.Join(dir, "data")
		if err := makeDir(data); err != nil {
			return err
		}
		flags["storage-path"], flags["storage-addr"], flags["storage-adv-addr"] = data, loopback(storage), loopback(storage)
		c.artifactAddress = loopback(storage)
	}
	args := replaceFlags(expandAll(container.Args, values), flags)
	p, err := c.start(ctx, program, append(env, "KUBECONFIG="+kubeconfig), args...)
	if err != nil {
		return err
	}
	return p.awaitReady(ctx, fluxTimeout, func(ctx context.Context) error {
		return getOK(ctx, http.DefaultClient, "http://"+loopback(health)+"/readyz")
	})
}

// ArtifactAddress is where source-controller serves artifacts: host and port.
func (c *Cluster) ArtifactAddress() string { return c.artifactAddress }

// reportReady says on a Deployment that its only replica is ready.
func (c *Cluster) reportReady(ctx context.Context, key client.ObjectKey) error {
	deployment := &appsv1.Deployment{}
	if err := c.runnerClient.Get(ctx, key, deployment); err != nil {
		return fmt.Errorf("report Deployment %s ready: %w", key, err)
	}
	return c.writeDeploymentStatus(ctx, deployment, deploymentFacts{podExists: true, ready: true})
}
