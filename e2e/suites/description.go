package suites

import (
	"context"
	"fmt"
	"io"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/kind"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

const (
	// describePatience bounds a description: the cluster may be what is broken.
	describePatience = time.Minute
	// logEnd is how many lines of a container's log are printed.
	logEnd = 40
)

// describe prints what explains a failure as a whole: the pods of the operator and of
// Flux with the ends of their logs, and the warnings of the cluster. It tells as much as
// it can get.
func (s *Stage) describe(out io.Writer) {
	ctx, cancel := context.WithTimeout(context.Background(), describePatience)
	defer cancel()
	for _, namespace := range []string{OperatorNamespace, kind.FluxNamespace} {
		s.describePods(ctx, out, client.InNamespace(namespace))
	}
	s.describeEvents(ctx, out, client.MatchingFields{"type": corev1.EventTypeWarning})
}

// describeTenant prints what explains a tenant's state: the TenantGitOps, the Flux
// objects and the events of its namespace, and its controller's pod.
func (s *Stage) describeTenant(out io.Writer, namespace string) {
	ctx, cancel := context.WithTimeout(context.Background(), describePatience)
	defer cancel()
	for _, list := range []client.ObjectList{&gitopsv1.TenantGitOpsList{}, &sourcev1.GitRepositoryList{}, &kustomizev1.KustomizationList{}} {
		if err := s.Client.List(ctx, list, client.InNamespace(namespace)); err != nil {
			fmt.Fprintln(out, err)
			continue
		}
		// It only fails where an item is not an object.
		_ = apimeta.EachListItem(list, func(item runtime.Object) error {
			describeObject(out, item)
			return nil
		})
	}
	s.describeEvents(ctx, out, client.InNamespace(namespace))
	s.describePods(ctx, out, client.InNamespace(ControllersNamespace), client.MatchingLabels{stamp.TenantLabel: namespace})
}

func describeObject(out io.Writer, item runtime.Object) {
	var status any
	switch object := item.(type) {
	case *gitopsv1.TenantGitOps:
		status = object.Status
	case *sourcev1.GitRepository:
		status = object.Status
	case *kustomizev1.Kustomization:
		status = object.Status
	}
	if object, err := apimeta.Accessor(item); err == nil {
		fmt.Fprintf(out, "--- %T %s/%s, finalizers %v, deleted at %v: %+v\n", item, object.GetNamespace(), object.GetName(), object.GetFinalizers(), object.GetDeletionTimestamp(), status)
	}
}

func (s *Stage) describeEvents(ctx context.Context, out io.Writer, which client.ListOption) {
	events := &corev1.EventList{}
	if err := s.Client.List(ctx, events, which); err != nil {
		fmt.Fprintln(out, "list events:", err)
	}
	for _, event := range events.Items {
		fmt.Fprintf(out, "%s: %d x %s %s/%s: %s: %s\n", event.LastTimestamp.Format(time.TimeOnly), max(1, event.Count), event.InvolvedObject.Kind, event.InvolvedObject.Namespace, event.InvolvedObject.Name, event.Reason, event.Message)
	}
}

func (s *Stage) describePods(ctx context.Context, out io.Writer, which ...client.ListOption) {
	pods := &corev1.PodList{}
	if err := s.Client.List(ctx, pods, which...); err != nil {
		fmt.Fprintln(out, "list pods:", err)
	}
	for _, pod := range pods.Items {
		fmt.Fprintf(out, "--- pod %s/%s: %s\n", pod.Namespace, pod.Name, pod.Status.Phase)
		for _, condition := range pod.Status.Conditions {
			fmt.Fprintf(out, "%s: %s %s %s\n", condition.Type, condition.Status, condition.Reason, condition.Message)
		}
		for _, container := range pod.Status.ContainerStatuses {
			fmt.Fprintf(out, "container %s: ready %t, %d restarts, %s, before that %s\n", container.Name, container.Ready, container.RestartCount, container.State.String(), container.LastTerminationState.String())
			lines := int64(logEnd)
			log, err := s.Clients.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, &corev1.PodLogOptions{Container: container.Name, TailLines: &lines}).DoRaw(ctx)
			if err != nil {
				fmt.Fprintln(out, "no log:", err)
			}
			fmt.Fprintf(out, "%s\n", log)
		}
	}
}
