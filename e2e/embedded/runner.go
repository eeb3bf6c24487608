package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"sync"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/cozystack/gitops-operator/e2e/programs"
)

const (
	// runnerWorkers bounds how many Deployments are looked at together.
	runnerWorkers = 4
	// createRetry is how soon a Pod that was refused is tried again.
	createRetry = time.Second
	// defaultProgressDeadline is the API's own.
	defaultProgressDeadline = 10 * time.Minute
)

// runner stands in for the deployment controller, the scheduler and a kubelet, for
// Deployments of one replica: each becomes one Pod and one process.
type runner struct {
	cluster *Cluster
	client  client.Client
	cancel  context.CancelFunc
	// done ends with the runner; stopped then has the manager's last word.
	done    <-chan struct{}
	stopped chan error
	// changed wakes the reconciler when a process became ready or ended.
	changed chan event.GenericEvent

	mu        sync.Mutex
	instances map[client.ObjectKey]*instance
}

func (c *Cluster) startRunner(ctx context.Context) error {
	// Built before the first Deployment, which would wait for it otherwise.
	if _, err := programs.Path(ctx, kustomizeController); err != nil {
		return err
	}
	runnerConfig, err := c.UserConfig(RunnerUser, adminGroup)
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(runnerConfig, ctrl.Options{
		Scheme:                 Scheme(),
		Logger:                 logr.Discard(),
		Metrics:                server.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
		Cache:                  cache.Options{DefaultNamespaces: map[string]cache.Config{c.options.RunnerNamespace: {}}},
		Controller: config.Controller{
			// One test process may start several clusters, each with a runner.
			SkipNameValidation: new(true),
			// Its shutdown can wait for a worker that has left, for good:
			// https://github.com/kubernetes-sigs/controller-runtime/issues/3538
			UsePriorityQueue: new(false),
		},
	})
	if err != nil {
		return fmt.Errorf("make the Deployment runner: %w", err)
	}
	r := &runner{
		cluster: c, client: c.runnerClient,
		stopped: make(chan error, 1), changed: make(chan event.GenericEvent),
		instances: map[client.ObjectKey]*instance{},
	}
	// A Deployment's status is the runner's own and wakes nobody; a Pod matters when
	// somebody else deletes it.
	err = ctrl.NewControllerManagedBy(manager).Named("deployment-runner").
		For(&appsv1.Deployment{}, builder.WithPredicates(specChanged())).
		Owns(&corev1.Pod{}, builder.WithPredicates(podDeleted())).
		WatchesRawSource(source.Channel(r.changed, &handler.EnqueueRequestForObject{})).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: runnerWorkers,
			RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](50*time.Millisecond, 2*time.Second),
		}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("make the Deployment runner: %w", err)
	}
	// The runner lives as long as the cluster, not as the call that starts it.
	runContext, cancel := context.WithCancel(context.Background())
	r.cancel, r.done = cancel, runContext.Done()
	go func() { r.stopped <- manager.Start(runContext) }()
	c.runner = r
	return nil
}

// stop ends the runner and all its processes. Its error may be of a runner that gave up
// long before.
func (r *runner) stop() error {
	r.cancel()
	err := <-r.stopped
	r.mu.Lock()
	defer r.mu.Unlock()
	var group sync.WaitGroup
	for _, one := range r.instances {
		group.Go(func() { one.endProcess((*process).kill) })
	}
	group.Wait()
	if err != nil {
		return fmt.Errorf("run the Deployment runner: %w", err)
	}
	return nil
}

// Reconcile makes the process and the reports of one Deployment what they should be.
func (r *runner) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	key := request.NamespacedName
	deployment := &appsv1.Deployment{}
	err := r.client.Get(ctx, key, deployment)
	if apierrors.IsNotFound(err) {
		return reconcile.Result{}, r.remove(ctx, key)
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("read Deployment %s: %w", key, err)
	}
	if deployment.DeletionTimestamp != nil || replicas(deployment) == 0 {
		return reconcile.Result{}, errors.Join(r.remove(ctx, key), r.cluster.writeDeploymentStatus(ctx, deployment, deploymentFacts{}))
	}
	one, err := r.currentInstance(ctx, deployment)
	if err != nil {
		facts := deploymentFacts{createFailure: err.Error()}
		return reconcile.Result{RequeueAfter: createRetry}, r.cluster.writeDeploymentStatus(ctx, deployment, facts)
	}
	wake := one.step(ctx)
	if err := one.writePodStatus(ctx); err != nil {
		return reconcile.Result{}, err
	}
	facts := deploymentFacts{podExists: true, ready: one.isReady()}
	if untilLate := time.Until(one.created.Add(progressDeadline(deployment))); !facts.ready {
		facts.late = untilLate <= 0
		if !facts.late && (wake == 0 || untilLate < wake) {
			wake = untilLate
		}
	}
	return reconcile.Result{RequeueAfter: wake}, r.cluster.writeDeploymentStatus(ctx, deployment, facts)
}

// currentInstance returns the instance of the Deployment's present template. One of an
// earlier template, or one whose Pod somebody deleted, ends before the next begins.
func (r *runner) currentInstance(ctx context.Context, deployment *appsv1.Deployment) (*instance, error) {
	key := client.ObjectKeyFromObject(deployment)
	hash, err := templateHash(deployment.Spec.Template)
	if err != nil {
		return nil, err
	}
	if one := r.instance(key); one != nil {
		pod := &corev1.Pod{}
		err := r.client.Get(ctx, client.ObjectKeyFromObject(one.pod), pod)
		if err != nil && !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("read Pod of Deployment %s: %w", key, err)
		}
		if err == nil && pod.UID == one.pod.UID && pod.DeletionTimestamp == nil && one.hash == hash {
			one.pod = pod
			return one, nil
		}
		if err := r.remove(ctx, key); err != nil {
			return nil, err
		}
	}
	one, err := newInstance(ctx, r, deployment, hash)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.instances[key] = one
	return one, nil
}

func (r *runner) instance(key client.ObjectKey) *instance {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.instances[key]
}

// remove ends an instance: its process first, then its Pod.
func (r *runner) remove(ctx context.Context, key client.ObjectKey) error {
	one := r.instance(key)
	if one == nil {
		return nil
	}
	one.endProcess((*process).stop)
	// Forgotten only once the Pod is gone: an error brings the caller back here.
	if err := client.IgnoreNotFound(r.client.Delete(ctx, one.pod)); err != nil {
		return fmt.Errorf("delete Pod of Deployment %s: %w", key, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.instances, key)
	return nil
}

func progressDeadline(deployment *appsv1.Deployment) time.Duration {
	if seconds := deployment.Spec.ProgressDeadlineSeconds; seconds != nil {
		return time.Duration(*seconds) * time.Second
	}
	return defaultProgressDeadline
}

// templateHash tells two pod templates apart.
func templateHash(template corev1.PodTemplateSpec) (string, error) {
	content, err := json.Marshal(template)
	if err != nil {
		return "", fmt.Errorf("encode pod template: %w", err)
	}
	sum := fnv.New32a()
	// The hash never fails.
	_, _ = sum.Write(content)
	return fmt.Sprintf("%08x", sum.Sum32()), nil
}
