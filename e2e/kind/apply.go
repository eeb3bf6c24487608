package kind

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fieldOwner is the manager of what is applied here.
const fieldOwner = client.FieldOwner("gitops-operator-e2e")

const pollInterval = 200 * time.Millisecond

// Client returns a client that knows the built-in kinds and CRDs; others as unstructured.
func (c *Cluster) Client() (client.Client, error) {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme)); err != nil {
		return nil, fmt.Errorf("make a client of cluster %s: %w", c.Name, err)
	}
	made, err := client.New(c.RESTConfig, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("make a client of cluster %s: %w", c.Name, err)
	}
	return made, nil
}

// Apply applies YAML documents on the server's side.
func (c *Cluster) Apply(ctx context.Context, documents ...string) error {
	writer, err := c.Client()
	if err != nil {
		return err
	}
	for _, text := range documents {
		decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader([]byte(text)), 4096)
		for {
			object := &unstructured.Unstructured{}
			err := decoder.Decode(&object.Object)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return fmt.Errorf("read a manifest: %w", err)
			}
			if len(object.Object) == 0 {
				continue
			}
			if err := writer.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), fieldOwner, client.ForceOwnership); err != nil {
				return fmt.Errorf("apply %s %s: %w", object.GetKind(), client.ObjectKeyFromObject(object), err)
			}
		}
	}
	return nil
}

// AwaitDeployment waits until all replicas of a Deployment are of its newest template and
// available, and says what its pods lack if that does not come about.
func (c *Cluster) AwaitDeployment(ctx context.Context, namespace, name string) error {
	reader, err := c.Client()
	if err != nil {
		return err
	}
	key := client.ObjectKey{Namespace: namespace, Name: name}
	err = wait.PollUntilContextTimeout(ctx, pollInterval, 3*time.Minute, true, func(ctx context.Context) (bool, error) {
		deployment := &appsv1.Deployment{}
		if err := reader.Get(ctx, key, deployment); err != nil {
			return false, client.IgnoreNotFound(err)
		}
		wanted := int32(1)
		if deployment.Spec.Replicas != nil {
			wanted = *deployment.Spec.Replicas
		}
		status := deployment.Status
		return status.ObservedGeneration >= deployment.Generation && status.UpdatedReplicas == wanted && status.AvailableReplicas == wanted, nil
	})
	if err != nil {
		return fmt.Errorf("await Deployment %s: %w%s", key, err, podsOf(context.WithoutCancel(ctx), reader, namespace))
	}
	return nil
}

// podsOf describes the pods of a namespace that are not ready.
func podsOf(ctx context.Context, reader client.Reader, namespace string) string {
	pods := &corev1.PodList{}
	if err := reader.List(ctx, pods, client.InNamespace(namespace)); err != nil {
		return ""
	}
	var text strings.Builder
	for _, pod := range pods.Items {
		for _, status := range append(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses...) {
			if !status.Ready {
				fmt.Fprintf(&text, "; pod %s, container %s: %s", pod.Name, status.Name, describe(status))
			}
		}
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodScheduled && condition.Status != corev1.ConditionTrue {
				fmt.Fprintf(&text, "; pod %s: %s", pod.Name, condition.Message)
			}
		}
	}
	return text.String()
}

func describe(status corev1.ContainerStatus) string {
	switch {
	case status.State.Waiting != nil:
		return status.State.Waiting.Reason + " " + status.State.Waiting.Message
	case status.State.Terminated != nil:
		return fmt.Sprintf("ended with code %d %s", status.State.Terminated.ExitCode, status.State.Terminated.Message)
	}
	return "runs and is not ready"
}

func (c *Cluster) awaitDefinitions(ctx context.Context) error {
	reader, err := c.Client()
	if err != nil {
		return err
	}
	err = wait.PollUntilContextTimeout(ctx, pollInterval, time.Minute, true, func(ctx context.Context) (bool, error) {
		definitions := &apiextensionsv1.CustomResourceDefinitionList{}
		if err := reader.List(ctx, definitions); err != nil {
			return false, err
		}
		for _, definition := range definitions.Items {
			if !isEstablished(definition) {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("await the CRDs: %w", err)
	}
	return nil
}

func isEstablished(definition apiextensionsv1.CustomResourceDefinition) bool {
	for _, condition := range definition.Status.Conditions {
		if condition.Type == apiextensionsv1.Established {
			return condition.Status == apiextensionsv1.ConditionTrue
		}
	}
	return false
}

// nodeIsReady tells whether the API answers and says so of a node.
func (c *Cluster) nodeIsReady(ctx context.Context) bool {
	reader, err := c.Client()
	if err != nil {
		return false
	}
	nodes := &corev1.NodeList{}
	if err := reader.List(ctx, nodes); err != nil {
		return false
	}
	for _, node := range nodes.Items {
		for _, condition := range node.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
				return true
			}
		}
	}
	return false
}
