package tenantgitops

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
)

// takeDownAbandoned takes down what was stamped for a TenantGitOps that is gone
// without a teardown, because somebody took its finalizer off. Whoever writes a
// TenantGitOps can do that. Left alone, git would go on being applied, and the
// accounts that are held by the teardown finalizer would hold the namespace for ever.
// Whatever a source's deletionPolicy was, its applications stay.
func (r *Reconciler) takeDownAbandoned(ctx context.Context, key client.ObjectKey) (ctrl.Result, error) {
	now := metav1.Now()
	p := &pass{Reconciler: r, abandoned: true, tenant: &gitopsv1.TenantGitOps{ObjectMeta: metav1.ObjectMeta{
		Namespace: key.Namespace, Name: key.Name,
		DeletionTimestamp: &now, Finalizers: []string{Finalizer},
	}}}
	left, err := p.readLive(ctx, r.Client)
	if err != nil {
		return ctrl.Result{}, err
	}
	if left.nothingStamped() {
		return ctrl.Result{}, nil
	}
	// The cache of one kind may be behind that of another.
	err = r.Uncached.Get(ctx, key, &gitopsv1.TenantGitOps{})
	switch {
	case err == nil:
		// It leads to a pass of its own when the cache has seen it.
		return ctrl.Result{}, nil
	case !apierrors.IsNotFound(err):
		return ctrl.Result{}, fmt.Errorf("cannot read TenantGitOps %s: %w", key, err)
	}
	ctrl.LoggerFrom(ctx).Info("taking down what a TenantGitOps left that lost its finalizer")
	out, err := p.teardown(ctx)
	if err != nil || p.gone {
		return ctrl.Result{}, err
	}
	if out.requeueAfter == 0 {
		out.requeueAfter = abandonedInterval
	}
	return ctrl.Result{RequeueAfter: out.requeueAfter}, nil
}

// abandonedInterval is how long to wait where the teardown names no time itself.
const abandonedInterval = 30 * time.Second

// nothingStamped says whether nothing is there that was stamped; Kustomizations that
// somebody else wrote do not count.
func (l *live) nothingStamped() bool {
	for _, kustomization := range l.kustomizations {
		if isStamped(kustomization) {
			return false
		}
	}
	return len(l.gitRepositories)+len(l.ociRepositories)+len(l.serviceAccounts)+len(l.roles)+
		len(l.bindings)+len(l.networkPolicies) == 0 && l.deployment == nil
}
