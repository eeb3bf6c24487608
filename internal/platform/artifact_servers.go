package platform

import (
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
)

// sourceWatcher serves artifacts that it makes of those of source-controller, in
// the same way: over plain HTTP, to whoever asks.
const sourceWatcher = "source-watcher"

// ArtifactServer is a program of Flux that serves artifacts.
type ArtifactServer struct {
	// Program is source-controller or source-watcher.
	Program string
	// Deployment that it runs in.
	Deployment string
	// PodLabels select its pods.
	PodLabels map[string]string
	// TemplateLabels are all that its pods carry, by which policies of others may select
	// them.
	TemplateLabels map[string]string
	// Port it serves artifacts on.
	Port int32
	// HostNetwork: it listens on its node's own addresses.
	HostNetwork bool
}

// ArtifactServers finds the programs that serve artifacts among the Deployments of
// the namespace that Flux runs in: source-controller, which has to be there, and
// source-watcher, which may be. The error says the mend.
func ArtifactServers(namespace string, deployments []appsv1.Deployment) ([]ArtifactServer, error) {
	var servers []ArtifactServer
	var errs []error
	for _, program := range []string{sourceController, sourceWatcher} {
		server, err := artifactServer(namespace, deployments, program)
		errs = append(errs, err)
		if server != nil {
			servers = append(servers, *server)
		} else if err == nil && program == sourceController {
			errs = append(errs, errNotRun(namespace, program))
		}
	}
	return servers, errors.Join(errs...)
}

func errNotRun(namespace, program string) error {
	return fmt.Errorf("no Deployment in namespace %s runs %s: install Flux there, or name its namespace with --flux-namespace", namespace, program)
}

// artifactServer reads one program's; nil where no Deployment runs it.
func artifactServer(namespace string, deployments []appsv1.Deployment, program string) (*ArtifactServer, error) {
	deployment, container := findContainer(deployments, program)
	if container == nil {
		return nil, nil
	}
	port, err := storagePort(container)
	errs := []error{err}
	template := deployment.Spec.Template
	server := &ArtifactServer{
		Program:        program,
		Deployment:     deployment.Name,
		PodLabels:      template.Labels,
		TemplateLabels: template.Labels,
		Port:           port,
		HostNetwork:    template.Spec.HostNetwork,
	}
	if deployment.Spec.Selector != nil && len(deployment.Spec.Selector.MatchLabels) > 0 {
		server.PodLabels = deployment.Spec.Selector.MatchLabels
	}
	if len(server.PodLabels) == 0 && !server.HostNetwork {
		// No labels would select every pod of the namespace.
		errs = append(errs, fmt.Errorf("the pods of Deployment %s/%s carry no label to select them by: label its pod template", namespace, deployment.Name))
	}
	return server, errors.Join(errs...)
}
