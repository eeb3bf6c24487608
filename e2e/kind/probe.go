package kind

import (
	"context"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	probeImage = imageRegistry + "/probe:test"
	probePort  = 8080
)

// Probe is a pod that answers on port 8080 and opens connections on request. It is asked
// by way of the API server and the node, which no NetworkPolicy keeps from a pod.
type Probe struct {
	Namespace, Name string
	// Address is the pod's own.
	Address string

	clients kubernetes.Interface
}

// StartProbe starts a probe as a pod with these labels, which decide on the policies that
// hold for it, and waits until it answers. The pod satisfies pod security "restricted".
func (c *Cluster) StartProbe(ctx context.Context, namespace, name string, labels map[string]string) (*Probe, error) {
	if err := c.loadProbeImage(ctx); err != nil {
		return nil, err
	}
	writer, err := c.Client()
	if err != nil {
		return nil, err
	}
	pod := probePod(namespace, name, labels)
	if err := writer.Create(ctx, pod); err != nil {
		return nil, fmt.Errorf("start probe %s/%s: %w", namespace, name, err)
	}
	err = wait.PollUntilContextTimeout(ctx, pollInterval, 2*time.Minute, true, func(ctx context.Context) (bool, error) {
		if err := writer.Get(ctx, client.ObjectKeyFromObject(pod), pod); err != nil {
			return false, err
		}
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodReady {
				return condition.Status == corev1.ConditionTrue, nil
			}
		}
		return false, nil
	})
	if err != nil {
		return nil, fmt.Errorf("start probe %s/%s: %w%s", namespace, name, err, podsOf(context.WithoutCancel(ctx), writer, namespace))
	}
	clients, err := kubernetes.NewForConfig(c.RESTConfig)
	if err != nil {
		return nil, fmt.Errorf("start probe %s/%s: %w", namespace, name, err)
	}
	return &Probe{Namespace: namespace, Name: name, Address: fmt.Sprintf("%s:%d", pod.Status.PodIP, probePort), clients: clients}, nil
}

// Dial tells whether the pod can open a TCP connection to an address "host:port".
func (p *Probe) Dial(ctx context.Context, address string) error {
	_, err := p.ask(ctx, "dial", map[string]string{"to": address})
	if err != nil {
		return fmt.Errorf("dial %s from pod %s/%s: %w", address, p.Namespace, p.Name, err)
	}
	return nil
}

// Resolve returns the addresses that the pod finds for a name, as text.
func (p *Probe) Resolve(ctx context.Context, name string) (string, error) {
	answer, err := p.ask(ctx, "resolve", map[string]string{"name": name})
	if err != nil {
		return "", fmt.Errorf("resolve %s from pod %s/%s: %w", name, p.Namespace, p.Name, err)
	}
	return answer, nil
}

func (p *Probe) ask(ctx context.Context, path string, parameters map[string]string) (string, error) {
	answer, err := p.clients.CoreV1().Pods(p.Namespace).ProxyGet("http", p.Name, fmt.Sprint(probePort), path, parameters).DoRaw(ctx)
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, answer)
	}
	return string(answer), nil
}

// loadProbeImage builds the probe and loads it into the node, once for each cluster.
func (c *Cluster) loadProbeImage(ctx context.Context) error {
	c.probeImage.Lock()
	defer c.probeImage.Unlock()
	if c.probeImageLoaded {
		return nil
	}
	dir, remove, err := workFolder(c.cache)
	if err != nil {
		return err
	}
	defer remove()
	binary, err := buildOwn(ctx, "kind/probe", dir)
	if err != nil {
		return err
	}
	if err := c.LoadBinaryImage(ctx, probeImage, binary, "probe"); err != nil {
		return err
	}
	c.probeImageLoaded = true
	return nil
}

func probePod(namespace, name string, labels map[string]string) *corev1.Pod {
	yes, no, grace := true, false, int64(0)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: maps.Clone(labels)},
		Spec: corev1.PodSpec{
			AutomountServiceAccountToken:  &no,
			TerminationGracePeriodSeconds: &grace,
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot:   &yes,
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "probe", Image: probeImage, ImagePullPolicy: corev1.PullNever,
				ReadinessProbe: &corev1.Probe{
					PeriodSeconds: 1,
					ProbeHandler:  corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/", Port: intstr.FromInt32(probePort)}},
				},
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: &no,
					ReadOnlyRootFilesystem:   &yes,
					Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
}
