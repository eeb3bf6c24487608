// Package platform reads what the platform runs beside the operator: its Flux,
// the fields that Flux knows, and the application kinds. All of it is pure: the
// objects come in, a verdict comes out.
package platform

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

const (
	// ShardLabel is Flux's label for sharding.
	ShardLabel = "sharding.fluxcd.io/key"
	// unshardedSelector is what keeps the platform's own controllers away from
	// objects that carry a shard.
	unshardedSelector = "!" + ShardLabel

	sourceController    = "source-controller"
	kustomizeController = "kustomize-controller"
	// defaultStoragePort is source-controller's, when --storage-addr is not set.
	defaultStoragePort = 9090
)

// Flux is what matters of the platform's Flux.
type Flux struct {
	// Namespace it runs in.
	Namespace string
	// ArtifactPodLabels select the pods of source-controller.
	ArtifactPodLabels map[string]string
	// ArtifactPort is where source-controller serves artifacts.
	ArtifactPort int32
	// HostNetwork: source-controller listens on its node's own addresses.
	HostNetwork bool
}

// InspectFlux finds source-controller and kustomize-controller among the
// Deployments of the namespace that Flux runs in: two Deployments, or two
// containers of one. The error says why tenants must not be given a controller
// beside this Flux, and the mend.
func InspectFlux(namespace string, deployments []appsv1.Deployment) (Flux, error) {
	flux := Flux{Namespace: namespace}
	var errs []error

	server, err := artifactServer(namespace, deployments, sourceController)
	if err != nil {
		errs = append(errs, err)
	}
	if server == nil {
		errs = append(errs, errNotRun(namespace, sourceController))
	} else {
		flux.ArtifactPodLabels, flux.ArtifactPort, flux.HostNetwork = server.PodLabels, server.Port, server.HostNetwork
	}

	unsharded := 0
	for i := range deployments {
		for j := range deployments[i].Spec.Template.Spec.Containers {
			container := &deployments[i].Spec.Template.Spec.Containers[j]
			if !runs(&deployments[i], container, kustomizeController) {
				continue
			}
			if selector, _ := flag(container, "watch-label-selector"); !excludesShards(selector) {
				errs = append(errs, fmt.Errorf("container %s of Deployment %s/%s takes every Kustomization, a tenant's too, and would run it as its own account: start it with --watch-label-selector=%s",
					container.Name, namespace, deployments[i].Name, unshardedSelector))
				continue
			}
			unsharded++
		}
	}
	if unsharded == 0 && len(errs) == 0 {
		errs = append(errs, errNotRun(namespace, kustomizeController))
	}
	return flux, errors.Join(errs...)
}

// excludesShards says whether a label selector keeps away from every object
// with a shard: one of its requirements is that there is none.
func excludesShards(selector string) bool {
	for requirement := range strings.SplitSeq(selector, ",") {
		if strings.ReplaceAll(strings.TrimSpace(requirement), " ", "") == unshardedSelector {
			return true
		}
	}
	return false
}

func findContainer(deployments []appsv1.Deployment, program string) (*appsv1.Deployment, *corev1.Container) {
	for i := range deployments {
		containers := deployments[i].Spec.Template.Spec.Containers
		for j := range containers {
			if runs(&deployments[i], &containers[j], program) {
				return &deployments[i], &containers[j]
			}
		}
	}
	return nil, nil
}

// runs says whether a container is the program: by its own name, by its image,
// or as the manager of a Deployment called like the program.
func runs(deployment *appsv1.Deployment, container *corev1.Container, program string) bool {
	image, _, _ := strings.Cut(container.Image[strings.LastIndex(container.Image, "/")+1:], "@")
	image, _, _ = strings.Cut(image, ":")
	return container.Name == program || image == program || deployment.Name == program && container.Name == "manager"
}

// flag reads --name=value or --name value from a container's arguments; the
// last one wins, as it does in the program.
func flag(container *corev1.Container, name string) (value string, ok bool) {
	args := append(append([]string{}, container.Command...), container.Args...)
	for i, arg := range args {
		key, val, assigned := strings.Cut(arg, "=")
		if key != "--"+name && key != "-"+name {
			continue
		}
		if !assigned && i+1 < len(args) {
			val = args[i+1]
		}
		value, ok = val, true
	}
	return value, ok
}

func storagePort(container *corev1.Container) (int32, error) {
	address, ok := flag(container, "storage-addr")
	if !ok || address == "" {
		return defaultStoragePort, nil
	}
	port, err := strconv.ParseUint(address[strings.LastIndex(address, ":")+1:], 10, 16)
	if err != nil {
		return 0, fmt.Errorf("cannot read the port in --storage-addr=%s of container %s: write it as :9090", address, container.Name)
	}
	return int32(port), nil
}
