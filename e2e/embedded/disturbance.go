package embedded

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Crash kills the program of a Deployment that the runner runs, as a fault of its own
// would: the Pod stays, the container restarts.
func (c *Cluster) Crash(deployment string) error {
	return c.disturb(deployment, func(_ *instance, p *process) { p.kill() })
}

// OutOfMemory kills the program of a Deployment as the kernel does when a container
// outgrows its limit.
func (c *Cluster) OutOfMemory(deployment string) error {
	return c.disturb(deployment, func(one *instance, p *process) {
		one.setOutOfMemory()
		p.kill()
	})
}

// KillPod deletes the Pod of a Deployment: another takes its place.
func (c *Cluster) KillPod(ctx context.Context, deployment string) error {
	one, err := c.instanceOf(deployment)
	if err != nil {
		return err
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: c.options.RunnerNamespace, Name: one.podName}}
	if err := c.Client.Delete(ctx, pod); err != nil {
		return fmt.Errorf("delete Pod of Deployment %s: %w", deployment, err)
	}
	return nil
}

// PID is the process id of the program of a Deployment that the runner runs.
func (c *Cluster) PID(deployment string) (int, error) {
	pid := 0
	err := c.disturb(deployment, func(_ *instance, p *process) { pid = p.pid() })
	return pid, err
}

func (c *Cluster) disturb(deployment string, do func(*instance, *process)) error {
	one, err := c.instanceOf(deployment)
	if err != nil {
		return err
	}
	running := one.current()
	if running == nil || !running.running() {
		return fmt.Errorf("disturb Deployment %s: its program is not running", deployment)
	}
	do(one, running)
	return nil
}

func (c *Cluster) instanceOf(deployment string) (*instance, error) {
	if c.runner == nil {
		return nil, fmt.Errorf("find the program of Deployment %s: the cluster has no runner", deployment)
	}
	one := c.runner.instance(client.ObjectKey{Namespace: c.options.RunnerNamespace, Name: deployment})
	if one == nil {
		return nil, fmt.Errorf("find the program of Deployment %s: the runner runs none", deployment)
	}
	return one, nil
}
