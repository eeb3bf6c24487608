package releases

import (
	"context"
	"fmt"
	"time"

	v2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/cozystack/gitops-operator/e2e/standins/helmcontroller/helm"
	"github.com/cozystack/gitops-operator/e2e/standins/helmcontroller/plan"
)

// attempt is a pass that has all it needs to make a release.
type attempt struct {
	*pass
	releases *helm.Releases
	chart    *chart.Chart
	values   map[string]any
	wanted   plan.Wanted
}

// release installs or upgrades until the release is as wanted, or cannot be made so.
func (p *pass) release(ctx context.Context) (ctrl.Result, error) {
	if err := p.begin(ctx); err != nil {
		return ctrl.Result{}, err
	}
	if err := p.checkDependencies(ctx); err != nil {
		return ctrl.Result{}, err
	}
	loaded, err := p.loadChart()
	if err != nil {
		return ctrl.Result{}, err
	}
	values, err := p.composeValues(ctx)
	if err != nil {
		return ctrl.Result{}, err
	}
	if moved, err := p.leaveOldTarget(loaded.Name()); moved || err != nil {
		return ctrl.Result{}, err
	}
	status := &p.object.Status
	status.StorageNamespace = p.object.GetStorageNamespace()
	releases, err := p.Access.Open(p.object, status.StorageNamespace)
	if err != nil {
		return ctrl.Result{}, p.notReady("FactoryError", err.Error(), err)
	}
	a := &attempt{pass: p, releases: releases, chart: loaded, values: values, wanted: plan.Wanted{
		Chart: loaded.Name(), ChartVersion: loaded.Metadata.Version, ConfigDigest: helm.ConfigDigest(values),
	}}
	a.noteAttempt()
	return a.run(ctx)
}

// noteAttempt forgets the failures of what was wanted before.
func (a *attempt) noteAttempt() {
	status := &a.object.Status
	if v2.ShouldHandleResetRequest(a.object) || status.LastAttemptedGeneration != a.object.Generation ||
		status.GetLastAttemptedRevision() != a.wanted.ChartVersion || status.LastAttemptedConfigDigest != a.wanted.ConfigDigest {
		status.ClearFailures()
	}
	status.LastAttemptedGeneration = a.object.Generation
	status.LastAttemptedRevision = a.wanted.ChartVersion
	status.LastAttemptedConfigDigest = a.wanted.ConfigDigest
}

// run does one thing after the other, installing or upgrading once at most.
func (a *attempt) run(ctx context.Context) (ctrl.Result, error) {
	for tried := false; ; {
		history, err := a.releases.History()
		if err != nil {
			message := "Could not determine release state: " + err.Error()
			return ctrl.Result{}, a.notReady("StateError", message, err)
		}
		action := plan.Next(a.object, helm.Stored(history), a.wanted)
		if !tried && action == plan.Nothing && v2.ShouldHandleForceRequest(a.object) {
			action = plan.Upgrade
		}
		switch action {
		case plan.Nothing:
			return a.inSync()
		case plan.GiveUp:
			return ctrl.Result{}, a.giveUp()
		case plan.Unlock:
			if err := a.releases.Unlock(); err != nil {
				return ctrl.Result{}, err
			}
			continue
		}
		if tried {
			return a.retryLater()
		}
		tried = true
		if err := a.perform(ctx, action); err != nil {
			return ctrl.Result{}, err
		}
	}
}

// inSync restores a Ready condition that something passing had taken.
func (a *attempt) inSync() (ctrl.Result, error) {
	status := &a.object.Status
	status.History.Truncate(true)
	conditions.Delete(a.object, meta.ReconcilingCondition)
	a.summarize()
	return ctrl.Result{RequeueAfter: a.object.GetRequeueAfter()}, nil
}

func (a *attempt) giveUp() error {
	status := &a.object.Status
	failures := int64(0)
	if remediation := a.object.GetActiveRemediation(); remediation != nil {
		failures = remediation.GetFailureCount(a.object)
	}
	message := fmt.Sprintf("Failed to %s after %d attempt(s)", status.LastAttemptedReleaseAction, failures)
	conditions.MarkStalled(a.object, "RetriesExceeded", "%s", message)
	conditions.Delete(a.object, meta.ReconcilingCondition)
	a.summarize()
	return reconcile.TerminalError(fmt.Errorf("make release of HelmRelease %s: %s", a.object.Name, message))
}

// retryLater waits for the interval of the strategy, or asks to be called again soon.
func (a *attempt) retryLater() (ctrl.Result, error) {
	message := conditions.GetMessage(a.object, meta.ReadyCondition)
	conditions.MarkReconciling(a.object, meta.ProgressingWithRetryReason, "%s", message)
	if retry := a.object.GetActiveRetry(false); retry != nil {
		return ctrl.Result{RequeueAfter: retry.GetRetryInterval()}, nil
	}
	// The workqueue waits longer each time.
	return ctrl.Result{}, fmt.Errorf("make release of HelmRelease %s: %s", a.object.Name, message)
}

// summarize makes Ready what Released says.
func (p *pass) summarize() {
	released := conditions.Get(p.object, v2.ReleasedCondition)
	if released == nil {
		return
	}
	ready := *released
	ready.Type, ready.ObservedGeneration = meta.ReadyCondition, p.object.Generation
	if ready.Status == "True" {
		conditions.Delete(p.object, meta.StalledCondition)
	}
	conditions.Set(p.object, &ready)
}

// since is a duration as the status has it.
func since(began time.Time) time.Duration { return time.Since(began).Round(time.Millisecond) }
