package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
)

const (
	// readyPatience bounds the wait for the first commit, which takes seconds.
	readyPatience = 3 * time.Minute
	pollInterval  = 500 * time.Millisecond
)

// awaitReady waits until the first commit is applied, and tells what it waits for.
func (d *demo) awaitReady(ctx context.Context, s *stage) (*gitopsv1.TenantGitOps, error) {
	d.step("Waiting until the repository is applied")
	var tenant *gitopsv1.TenantGitOps
	said := ""
	err := d.watch(ctx, s, readyPatience, func(seen *gitopsv1.TenantGitOps) bool {
		tenant = seen
		ready := apimeta.FindStatusCondition(seen.Status.Conditions, "Ready")
		if ready == nil || ready.ObservedGeneration != seen.Generation {
			return false
		}
		if ready.Message != said {
			said = ready.Message
			d.say("Ready=%s: %s", ready.Status, said)
		}
		return ready.Status == metav1.ConditionTrue
	})
	if ctx.Err() != nil {
		return nil, errors.New("interrupted before the repository was applied")
	}
	if err != nil {
		err = fmt.Errorf("wait for the TenantGitOps of %s: %w", tenantNamespace, err)
		if s.explain != nil {
			err = s.explain(err)
		}
		return nil, err
	}
	return tenant, nil
}

// follow prints a line for each new revision, and for each change of what is wrong,
// until the demo is interrupted.
func (d *demo) follow(ctx context.Context, s *stage, revision string) error {
	d.step("Following %s; press Ctrl-C to end the demo", tenantNamespace)
	wrong := ""
	err := d.watch(ctx, s, 0, func(seen *gitopsv1.TenantGitOps) bool {
		if seen.Status.AppliedRevision != revision && seen.Status.AppliedRevision != "" {
			revision = seen.Status.AppliedRevision
			d.say("%s applied %s: %d applications", time.Now().Format(time.TimeOnly), revision, seen.Status.Applications)
		}
		ready := apimeta.FindStatusCondition(seen.Status.Conditions, "Ready")
		if ready == nil {
			return false
		}
		now := ""
		if ready.Status == metav1.ConditionFalse {
			now = ready.Reason + ": " + ready.Message
		}
		if now != wrong && now != "" {
			d.say("%s not ready, %s", time.Now().Format(time.TimeOnly), now)
		}
		wrong = now
		return false
	})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// watch looks at the TenantGitOps again and again until look has seen enough, the time
// is up (0: it never is), or something that the demo needs has ended.
func (d *demo) watch(ctx context.Context, s *stage, patience time.Duration, look func(*gitopsv1.TenantGitOps) bool) error {
	if patience > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	return wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		select {
		case err := <-s.ended:
			return false, err
		default:
		}
		tenant := &gitopsv1.TenantGitOps{}
		if err := s.client.Get(ctx, client.ObjectKey{Namespace: tenantNamespace, Name: gitopsv1.TenantGitOpsName}, tenant); err != nil {
			// It is there; whatever keeps it from being read shows up as ended.
			return false, nil
		}
		return look(tenant), nil
	})
}
