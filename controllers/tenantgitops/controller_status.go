package tenantgitops

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

// controllerStatus describes the tenant's controller from its Deployment and its
// pods; nil where there is no Deployment.
func controllerStatus(deployment *appsv1.Deployment, pods []corev1.Pod) *gitopsv1.ControllerStatus {
	if deployment == nil {
		return nil
	}
	status := &gitopsv1.ControllerStatus{
		Deployment: deployment.Namespace + "/" + deployment.Name,
		Ready:      controllerReady(deployment),
	}
	for _, container := range deployment.Spec.Template.Spec.Containers {
		if container.Name == stamp.ControllerContainer {
			status.Image = container.Image
		}
	}
	for i := range pods {
		for _, container := range pods[i].Status.ContainerStatuses {
			if container.Name != stamp.ControllerContainer {
				continue
			}
			status.Restarts += container.RestartCount
			if text := containerTrouble(container); text != "" {
				status.LastTermination = text
			}
		}
	}
	return status
}

// containerTrouble says why a container ended last, or why it cannot start.
func containerTrouble(container corev1.ContainerStatus) string {
	terminated := container.LastTerminationState.Terminated
	if container.State.Terminated != nil {
		terminated = container.State.Terminated
	}
	var text string
	if terminated != nil {
		text = fmt.Sprintf("%s, exit code %d", terminated.Reason, terminated.ExitCode)
	}
	if waiting := container.State.Waiting; waiting != nil && waiting.Reason != "ContainerCreating" && waiting.Reason != "PodInitializing" {
		if text == "" {
			return waiting.Reason
		}
		return waiting.Reason + " after " + text
	}
	return text
}
