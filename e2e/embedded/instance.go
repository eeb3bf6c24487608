package embedded

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/cozystack/gitops-operator/e2e/programs"
)

const (
	// managerContainer is the container that is run; others are not.
	managerContainer = "manager"
	// longestBackoff bounds the wait before a restart.
	longestBackoff = 30 * time.Second
	// soundRun is how long a program must have run for its crashes to be forgotten.
	soundRun = time.Minute
)

// instance is one Pod of a Deployment and its process. The reconciler alone changes it,
// one Deployment at a time; what the watcher of the process adds is behind the lock.
type instance struct {
	runner     *runner
	deployment client.ObjectKey
	container  corev1.Container
	hash       string
	created    time.Time
	podName    string
	pod        *corev1.Pod

	restarts  int32
	backoff   time.Duration
	nextStart time.Time
	began     time.Time
	logBegan  int64
	waiting   *corev1.ContainerStateWaiting
	lastEnd   *corev1.ContainerStateTerminated

	mu          sync.Mutex
	process     *process
	ready       bool
	outOfMemory bool
}

// newInstance creates the Pod, as the account of the Deployment's template; nothing runs yet.
func newInstance(ctx context.Context, r *runner, deployment *appsv1.Deployment, hash string) (*instance, error) {
	template := deployment.Spec.Template.DeepCopy()
	container, err := containerToRun(template.Spec)
	if err != nil {
		return nil, err
	}
	isController := true
	pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
	pod.Namespace = deployment.Namespace
	// Cut, so that the longest Deployment's name still leaves room for what follows.
	pod.Name = fmt.Sprintf("%.40s-%s-%s", deployment.Name, hash, rand.String(5))
	pod.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "apps/v1", Kind: "Deployment", Name: deployment.Name, UID: deployment.UID, Controller: &isController,
	}}
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	pod.Labels["pod-template-hash"] = hash
	if err := r.client.Create(ctx, pod); err != nil {
		return nil, fmt.Errorf("create Pod of Deployment %s: %w", deployment.Name, err)
	}
	return &instance{
		runner: r, deployment: client.ObjectKeyFromObject(deployment), container: container,
		hash: hash, created: time.Now(), podName: pod.Name, pod: pod, backoff: r.cluster.options.RestartBackoff,
	}, nil
}

func containerToRun(spec corev1.PodSpec) (corev1.Container, error) {
	for _, container := range spec.Containers {
		if container.Name == managerContainer {
			return container, nil
		}
	}
	return corev1.Container{}, fmt.Errorf("run pod: it has no container %q", managerContainer)
}

// step notes a process that ended and starts one that is due. It returns when to look
// again; zero is never, unless something happens.
func (i *instance) step(ctx context.Context) time.Duration {
	i.noteEnd()
	if i.current() != nil {
		return 0
	}
	if wait := time.Until(i.nextStart); wait > 0 {
		return wait
	}
	if _, tag := splitImage(i.container.Image); tag == TagMissing || programOf(i.container.Image) == "" {
		i.waiting = &corev1.ContainerStateWaiting{
			Reason:  "ImagePullBackOff",
			Message: fmt.Sprintf("Back-off pulling image %q: not found", i.container.Image),
		}
		return 0
	}
	if err := i.startProcess(ctx); err != nil {
		i.waiting = &corev1.ContainerStateWaiting{Reason: "CreateContainerConfigError", Message: err.Error()}
		i.delayStart()
		return time.Until(i.nextStart)
	}
	i.waiting = nil
	return 0
}

func (i *instance) startProcess(ctx context.Context) error {
	c := i.runner.cluster
	dir := filepath.Join(c.Dir, "pods", i.pod.Name)
	token, err := c.mintToken(ctx, i.pod.Namespace, i.pod.Spec.ServiceAccountName, i.pod)
	if err != nil {
		return err
	}
	kubeconfig, err := c.writeTokenKubeconfig(filepath.Join(dir, "credentials"), i.pod.Namespace, token.Token)
	if err != nil {
		return err
	}
	run, health, err := i.command(ctx)
	if err != nil {
		return err
	}
	run.dir, run.env = filepath.Join(dir, "tmp"), append(run.env, "KUBECONFIG="+kubeconfig)
	run.name, run.logFile = i.deployment.Name, c.logFile(i.deployment.Name)
	if info, err := os.Stat(run.logFile); err == nil {
		i.logBegan = info.Size()
	}
	started, err := start(run)
	if err != nil {
		return err
	}
	i.began = time.Now()
	i.mu.Lock()
	i.process, i.ready = started, false
	i.mu.Unlock()
	go i.watch(started, health)
	return nil
}

// command is what the container says to run, and the URL that says whether it is ready.
func (i *instance) command(ctx context.Context) (run command, health string, err error) {
	env, values, err := containerEnvironment(i.container, i.pod)
	if err != nil {
		return command{}, "", err
	}
	switch _, tag := splitImage(i.container.Image); tag {
	case TagCrash:
		return command{path: "/bin/sh", args: []string{"-c", "echo this image always crashes; exit 1"}, env: env}, "", nil
	case TagOutOfMemory:
		i.setOutOfMemory()
		return command{path: "/bin/sh", args: []string{"-c", "kill -9 $$"}, env: env}, "", nil
	}
	var healthPort, metricsPort int
	if err := freePorts(&healthPort, &metricsPort); err != nil {
		return command{}, "", err
	}
	// In a pod each program has all ports to itself.
	flags := map[string]string{"health-addr": loopback(healthPort), "metrics-addr": loopback(metricsPort)}
	args := expandAll(i.container.Args, values)
	if mentionsFlag(args, "enable-leader-election") {
		// The namespace of the lease is read from a file that only a pod has, and the
		// runner never runs two processes of one Deployment.
		flags["enable-leader-election"] = "false"
	}
	path, err := programs.Path(ctx, programOf(i.container.Image))
	if err != nil {
		return command{}, "", err
	}
	probe := "/readyz"
	if p := i.container.ReadinessProbe; p != nil && p.HTTPGet != nil {
		probe = p.HTTPGet.Path
	}
	return command{path: path, args: replaceFlags(args, flags), env: env}, "http://" + loopback(healthPort) + probe, nil
}

// noteEnd turns a process that ended into the last termination and a wait.
func (i *instance) noteEnd() {
	ended := i.current()
	if ended == nil || ended.running() {
		return
	}
	i.mu.Lock()
	outOfMemory := i.outOfMemory
	i.process, i.ready, i.outOfMemory = nil, false, false
	i.mu.Unlock()
	i.lastEnd = i.termination(ended, outOfMemory)
	i.restarts++
	if time.Since(i.began) > soundRun {
		i.backoff = i.runner.cluster.options.RestartBackoff
	}
	i.waiting = &corev1.ContainerStateWaiting{
		Reason:  "CrashLoopBackOff",
		Message: fmt.Sprintf("back-off %s restarting failed container=%s pod=%s", i.backoff, i.container.Name, i.pod.Name),
	}
	i.delayStart()
}

func (i *instance) delayStart() {
	i.nextStart = time.Now().Add(i.backoff)
	i.backoff = min(2*i.backoff, longestBackoff)
}

// endProcess ends the process for good, and what it left in the file system.
func (i *instance) endProcess(end func(*process)) {
	if running := i.current(); running != nil {
		end(running)
	}
	// Nobody misses what cannot be removed: it goes with the cluster's folder.
	_ = os.RemoveAll(filepath.Join(i.runner.cluster.Dir, "pods", i.pod.Name))
}

func (i *instance) current() *process {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.process
}

func (i *instance) isReady() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.ready && i.process != nil
}

func (i *instance) setOutOfMemory() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.outOfMemory = true
}

// notify has the reconciler look at the Deployment.
func (i *instance) notify() {
	object := &appsv1.Deployment{}
	object.Namespace, object.Name = i.deployment.Namespace, i.deployment.Name
	select {
	case i.runner.changed <- event.GenericEvent{Object: object}:
	case <-i.runner.done:
	}
}
