package embedded

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// deploymentFacts are what a Deployment's status says of its one replica.
type deploymentFacts struct {
	podExists, ready bool
	// late: the replica was not ready within the Deployment's progress deadline.
	late bool
	// createFailure is why the Pod was refused, if it was.
	createFailure string
}

// writeDeploymentStatus reports as the deployment controller would, and writes nothing
// if that is what the status says already.
func (c *Cluster) writeDeploymentStatus(ctx context.Context, deployment *appsv1.Deployment, facts deploymentFacts) error {
	updated := deployment.DeepCopy()
	updated.Status = deploymentStatus(deployment, facts)
	if equality.Semantic.DeepEqual(updated.Status, deployment.Status) {
		return nil
	}
	if err := c.runnerClient.Status().Patch(ctx, updated, client.MergeFrom(deployment)); err != nil {
		return fmt.Errorf("write status of Deployment %s: %w", client.ObjectKeyFromObject(deployment), err)
	}
	return nil
}

func deploymentStatus(deployment *appsv1.Deployment, facts deploymentFacts) appsv1.DeploymentStatus {
	status := appsv1.DeploymentStatus{
		ObservedGeneration: deployment.Generation,
		Conditions:         slices.Clone(deployment.Status.Conditions),
	}
	if facts.podExists {
		status.Replicas, status.UpdatedReplicas = 1, 1
	}
	wanted := replicas(deployment)
	available, progressing := corev1.ConditionTrue, corev1.ConditionTrue
	availableReason, progressingReason := "MinimumReplicasAvailable", "NewReplicaSetAvailable"
	switch {
	case facts.ready:
		status.ReadyReplicas, status.AvailableReplicas = 1, 1
	case wanted > 0:
		status.UnavailableReplicas = 1
		available, availableReason = corev1.ConditionFalse, "MinimumReplicasUnavailable"
		progressingReason = "ReplicaSetUpdated"
		if facts.late {
			progressing, progressingReason = corev1.ConditionFalse, "ProgressDeadlineExceeded"
		}
	}
	setCondition(&status, appsv1.DeploymentAvailable, available, availableReason, "")
	setCondition(&status, appsv1.DeploymentProgressing, progressing, progressingReason, "")
	if facts.createFailure != "" {
		setCondition(&status, appsv1.DeploymentReplicaFailure, corev1.ConditionTrue, "FailedCreate", facts.createFailure)
	} else {
		status.Conditions = slices.DeleteFunc(status.Conditions, func(condition appsv1.DeploymentCondition) bool {
			return condition.Type == appsv1.DeploymentReplicaFailure
		})
	}
	return status
}

func setCondition(status *appsv1.DeploymentStatus, kind appsv1.DeploymentConditionType, value corev1.ConditionStatus, reason, message string) {
	now := metav1.Now()
	for i := range status.Conditions {
		condition := &status.Conditions[i]
		if condition.Type != kind {
			continue
		}
		if condition.Status == value && condition.Reason == reason && condition.Message == message {
			return
		}
		if condition.Status != value {
			condition.LastTransitionTime = now
		}
		condition.Status, condition.Reason, condition.Message, condition.LastUpdateTime = value, reason, message, now
		return
	}
	status.Conditions = append(status.Conditions, appsv1.DeploymentCondition{
		Type: kind, Status: value, Reason: reason, Message: message, LastUpdateTime: now, LastTransitionTime: now,
	})
}

// replicas is how many replicas a Deployment wants.
func replicas(deployment *appsv1.Deployment) int32 {
	if deployment.Spec.Replicas == nil {
		return 1
	}
	return *deployment.Spec.Replicas
}
