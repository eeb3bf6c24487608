package releases

import (
	"context"
	"fmt"
	"strings"
	"time"

	v2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/conditions"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cozystack/gitops-operator/e2e/standins/helmcontroller/helm"
	"github.com/cozystack/gitops-operator/e2e/standins/helmcontroller/plan"
)

// perform installs or upgrades, and notes what came of it. Its error is of a failure
// that stored nothing, which is tried again without being counted; one that is stored
// is found by whoever looks at the state next.
func (a *attempt) perform(ctx context.Context, action plan.Action) error {
	timeout := a.object.GetUpgrade().GetTimeout(a.object.GetTimeout())
	if action == plan.Install {
		timeout = a.object.GetInstall().GetTimeout(a.object.GetTimeout())
	}
	message := fmt.Sprintf("Running '%s' action with timeout of %s", action, timeout.Duration)
	conditions.MarkReconciling(a.object, meta.ProgressingReason, "%s", message)
	conditions.MarkUnknown(a.object, meta.ReadyCondition, meta.ProgressingReason, "%s", message)
	if err := a.patch(ctx); err != nil {
		return err
	}
	storedBefore, err := a.newestVersion()
	if err != nil {
		return err
	}
	began := time.Now()
	failure := a.call(ctx, action)
	status := &a.object.Status
	status.LastAttemptedReleaseAction = v2.ReleaseAction(action)
	status.LastAttemptedReleaseActionDuration = &metav1.Duration{Duration: since(began)}
	conditions.Delete(a.object, v2.RemediatedCondition)
	history, err := a.releases.History()
	if err != nil {
		return err
	}
	if status.History, err = helm.Snapshots(history); err != nil {
		return err
	}
	defer a.summarize()
	if failure == nil {
		a.succeeded(action)
		return nil
	}
	a.failed(action, failure)
	if latest := status.History.Latest(); latest == nil || latest.Version == storedBefore {
		return failure
	}
	a.object.GetActiveRemediation().IncrementFailureCount(a.object)
	return nil
}

func (a *attempt) call(ctx context.Context, action plan.Action) error {
	if action == plan.Install {
		return a.releases.Install(ctx, a.chart, a.values)
	}
	return a.releases.Upgrade(ctx, a.chart, a.values)
}

func (a *attempt) newestVersion() (int, error) {
	history, err := a.releases.History()
	if err != nil || len(history) == 0 {
		return 0, err
	}
	return history[0].Version, nil
}

// reasons are those of success and failure of an action.
var reasons = map[plan.Action][2]string{
	plan.Install: {v2.InstallSucceededReason, v2.InstallFailedReason},
	plan.Upgrade: {v2.UpgradeSucceededReason, v2.UpgradeFailedReason},
}

func (a *attempt) succeeded(action plan.Action) {
	latest := a.object.Status.History.Latest()
	message := fmt.Sprintf("Helm %s succeeded for release %s with chart %s", action, latest.FullReleaseName(), latest.VersionedChartName())
	conditions.MarkTrue(a.object, v2.ReleasedCondition, reasons[action][0], "%s", message)
	if a.object.GetActiveRetry(false) != nil {
		a.object.Status.ClearFailures()
	}
	a.Events.Event(a.object, corev1.EventTypeNormal, reasons[action][0], message)
}

func (a *attempt) failed(action plan.Action, failure error) {
	message := fmt.Sprintf("Helm %s failed for release %s/%s with chart %s@%s: %s", action,
		a.object.GetReleaseNamespace(), a.object.GetReleaseName(), a.wanted.Chart, a.wanted.ChartVersion,
		strings.TrimSpace(failure.Error()))
	a.object.Status.Failures++
	conditions.MarkFalse(a.object, v2.ReleasedCondition, reasons[action][1], "%s", message)
	a.Events.Event(a.object, corev1.EventTypeWarning, reasons[action][1], message)
}
