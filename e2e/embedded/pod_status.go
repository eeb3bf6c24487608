package embedded

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// A kubelet keeps as much of a crashed program's log as its last message.
	terminationMessageBytes = 2048
	terminationMessageLines = 80
)

// writePodStatus reports as a kubelet would, and writes nothing if nothing changed.
func (i *instance) writePodStatus(ctx context.Context) error {
	updated := i.pod.DeepCopy()
	updated.Status = i.podStatus()
	if equality.Semantic.DeepEqual(updated.Status, i.pod.Status) {
		return nil
	}
	if err := i.runner.client.Status().Patch(ctx, updated, client.MergeFrom(i.pod)); err != nil {
		return fmt.Errorf("write status of Pod %s: %w", client.ObjectKeyFromObject(i.pod), err)
	}
	i.pod = updated
	return nil
}

func (i *instance) podStatus() corev1.PodStatus {
	status := *i.pod.Status.DeepCopy()
	ready := i.isReady()
	running := i.current() != nil
	status.Phase = corev1.PodRunning
	if !running && i.lastEnd == nil {
		status.Phase = corev1.PodPending
	}
	setPodCondition(&status, corev1.ContainersReady, ready)
	setPodCondition(&status, corev1.PodReady, ready)
	container := corev1.ContainerStatus{
		Name: i.container.Name, Image: i.container.Image,
		Ready: ready, Started: &running, RestartCount: i.restarts,
	}
	if running {
		container.State.Running = &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(i.began).Rfc3339Copy()}
	} else {
		container.State.Waiting = i.waiting
	}
	if i.lastEnd != nil {
		container.LastTerminationState.Terminated = i.lastEnd
	}
	status.ContainerStatuses = []corev1.ContainerStatus{container}
	return status
}

func setPodCondition(status *corev1.PodStatus, kind corev1.PodConditionType, ready bool) {
	value, reason := corev1.ConditionTrue, ""
	if !ready {
		value, reason = corev1.ConditionFalse, "ContainersNotReady"
	}
	for i := range status.Conditions {
		condition := &status.Conditions[i]
		if condition.Type == kind {
			if condition.Status != value {
				condition.Status, condition.Reason, condition.LastTransitionTime = value, reason, metav1.Now().Rfc3339Copy()
			}
			return
		}
	}
	status.Conditions = append(status.Conditions, corev1.PodCondition{
		Type: kind, Status: value, Reason: reason, LastTransitionTime: metav1.Now().Rfc3339Copy(),
	})
}

// termination describes the end of a process as a kubelet would.
func (i *instance) termination(ended *process, outOfMemory bool) *corev1.ContainerStateTerminated {
	end := &corev1.ContainerStateTerminated{
		ExitCode:   int32(ended.state.ExitCode()), //nolint:gosec // G115: 255 at most
		Reason:     "Error",
		StartedAt:  metav1.NewTime(i.began).Rfc3339Copy(),
		FinishedAt: metav1.Now().Rfc3339Copy(),
	}
	if wait, ok := ended.state.Sys().(syscall.WaitStatus); ok && wait.Signaled() {
		end.ExitCode = 128 + int32(wait.Signal()) //nolint:gosec // G115: 64 at most
	}
	switch {
	case outOfMemory:
		end.Reason = "OOMKilled"
	case end.ExitCode == 0:
		end.Reason = "Completed"
	}
	if i.container.TerminationMessagePolicy == corev1.TerminationMessageFallbackToLogsOnError && end.ExitCode != 0 {
		end.Message = i.lastWords(ended.logFile)
	}
	return end
}

// lastWords is the end of what this very run wrote to its log.
func (i *instance) lastWords(logFile string) string {
	file, err := os.Open(logFile)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return ""
	}
	from := max(i.logBegan, info.Size()-terminationMessageBytes)
	content, err := io.ReadAll(io.NewSectionReader(file, from, info.Size()-from))
	if err != nil {
		return ""
	}
	lines := strings.SplitAfter(string(content), "\n")
	return strings.Join(lines[max(0, len(lines)-terminationMessageLines):], "")
}
