package suites

import (
	"context"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/kind"
)

// describe prints what explains a failure: the tenants' states, the pods of the
// operator, of the tenants' controllers and of Flux with the ends of their logs, and
// the warnings of the whole cluster. It tells as much as it can get.
func (s *Stage) describe(out io.Writer) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	tenants := &gitopsv1.TenantGitOpsList{}
	if err := s.Client.List(ctx, tenants); err != nil {
		fmt.Fprintln(out, "list the TenantGitOps:", err)
	}
	for _, tenant := range tenants.Items {
		fmt.Fprintf(out, "--- TenantGitOps of %s, deleted at %v: %+v\n", tenant.Namespace, tenant.DeletionTimestamp, tenant.Status)
	}
	for _, namespace := range []string{OperatorNamespace, ControllersNamespace, kind.FluxNamespace} {
		s.describePods(ctx, out, namespace)
	}
	events := &corev1.EventList{}
	if err := s.Client.List(ctx, events, client.MatchingFields{"type": corev1.EventTypeWarning}); err != nil {
		fmt.Fprintln(out, "list events:", err)
	}
	for _, event := range events.Items {
		fmt.Fprintf(out, "%d x %s %s/%s: %s: %s\n", max(1, event.Count), event.InvolvedObject.Kind, event.InvolvedObject.Namespace, event.InvolvedObject.Name, event.Reason, event.Message)
	}
}

// logEnd is how many lines of a container's log are printed.
const logEnd = 40

func (s *Stage) describePods(ctx context.Context, out io.Writer, namespace string) {
	pods := &corev1.PodList{}
	if err := s.Client.List(ctx, pods, client.InNamespace(namespace)); err != nil {
		fmt.Fprintf(out, "list the pods of %s: %v\n", namespace, err)
	}
	for _, pod := range pods.Items {
		fmt.Fprintf(out, "--- pod %s/%s: %s, %+v\n", namespace, pod.Name, pod.Status.Phase, pod.Status.Conditions)
		for _, container := range pod.Status.ContainerStatuses {
			fmt.Fprintf(out, "container %s: ready %t, %d restarts, state %+v, before that %+v\n", container.Name, container.Ready, container.RestartCount, container.State, container.LastTerminationState)
			lines := int64(logEnd)
			log, err := s.Clients.CoreV1().Pods(namespace).GetLogs(pod.Name, &corev1.PodLogOptions{Container: container.Name, TailLines: &lines}).DoRaw(ctx)
			if err != nil {
				fmt.Fprintln(out, "no log:", err)
			}
			fmt.Fprintf(out, "%s\n", log)
		}
	}
}
