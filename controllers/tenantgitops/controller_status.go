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
	if pod := newestPod(pods); pod != nil {
		status.LastTermination = podTrouble(pod)
		for _, container := range pod.Status.ContainerStatuses {
			if container.Name == stamp.ControllerContainer {
				status.Restarts = container.RestartCount
				if text := containerTrouble(container); text != "" {
					status.LastTermination = text
				}
			}
		}
	}
	if !status.Ready {
		// What the pod says is nearer to the cause than a deadline that has passed.
		if trouble, outweighs := deploymentTrouble(deployment); outweighs || status.LastTermination == "" {
			status.LastTermination = trouble
		}
	}
	return status
}

// deploymentTrouble says why a Deployment has no pod, or none that is ready in
// time. That it has none outweighs what an older pod tells.
func deploymentTrouble(deployment *appsv1.Deployment) (trouble string, outweighs bool) {
	for _, condition := range deployment.Status.Conditions {
		switch {
		case condition.Type == appsv1.DeploymentReplicaFailure && condition.Status == corev1.ConditionTrue:
			return condition.Reason + ": " + condition.Message, true
		case condition.Type == appsv1.DeploymentProgressing && condition.Status == corev1.ConditionFalse:
			trouble = condition.Reason
		}
	}
	return trouble, false
}

// newestPod is the pod that counts: evicted ones may linger beside it, and what one on its
// way out says is no trouble.
func newestPod(pods []corev1.Pod) *corev1.Pod {
	var newest *corev1.Pod
	for i := range pods {
		pod := &pods[i]
		if !pod.DeletionTimestamp.IsZero() {
			continue
		}
		if newest == nil || newest.CreationTimestamp.Before(&pod.CreationTimestamp) ||
			newest.CreationTimestamp.Equal(&pod.CreationTimestamp) && newest.Name < pod.Name {
			newest = pod
		}
	}
	return newest
}

// podTrouble says why a pod as a whole cannot run: evicted, or not to be placed.
func podTrouble(pod *corev1.Pod) string {
	if pod.Status.Reason != "" {
		return pod.Status.Reason + ": " + pod.Status.Message
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			return condition.Reason + ": " + condition.Message
		}
	}
	return ""
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
