package plan

import (
	"testing"

	v2 "github.com/fluxcd/helm-controller/api/v2"
	"helm.sh/helm/v4/pkg/release/common"
)

var wanted = Wanted{Chart: "application", ChartVersion: "1.0.0", ConfigDigest: "sha256:one"}

func TestNext(t *testing.T) {
	stored := func(status common.Status) *Stored { return &Stored{Wanted: wanted, Version: 2, Status: status} }
	other := func(change func(*Wanted)) *Stored {
		s := stored(common.StatusDeployed)
		change(&s.Wanted)
		return s
	}
	retry := func(r *v2.HelmRelease) {
		r.Spec.Install = &v2.Install{Strategy: &v2.InstallStrategy{Name: string(v2.ActionStrategyRetryOnFailure)}}
		r.Spec.Upgrade = &v2.Upgrade{Strategy: &v2.UpgradeStrategy{Name: string(v2.ActionStrategyRetryOnFailure)}}
	}
	for name, test := range map[string]struct {
		release func(*v2.HelmRelease)
		stored  *Stored
		want    Action
	}{
		"nothing stored":                          {want: Install},
		"uninstalled":                             {stored: stored(common.StatusUninstalled), want: Install},
		"install failed, no retries":              {release: func(r *v2.HelmRelease) { r.Status.InstallFailures = 1 }, want: GiveUp},
		"install failed, retries on failure":      {release: func(r *v2.HelmRelease) { retry(r); r.Status.InstallFailures = 7 }, want: Install},
		"in the making":                           {stored: stored(common.StatusPendingInstall), want: Unlock},
		"made by somebody else":                   {release: func(r *v2.HelmRelease) { r.Status.History = nil }, stored: stored(common.StatusDeployed), want: Upgrade},
		"another made a newer one":                {release: func(r *v2.HelmRelease) { r.Status.History[0].Version = 1 }, stored: stored(common.StatusDeployed), want: Upgrade},
		"as wanted":                               {stored: stored(common.StatusDeployed), want: Nothing},
		"other chart":                             {stored: other(func(w *Wanted) { w.Chart = "old" }), want: Upgrade},
		"other version":                           {stored: other(func(w *Wanted) { w.ChartVersion = "0.9.0" }), want: Upgrade},
		"other values":                            {stored: other(func(w *Wanted) { w.ConfigDigest = "sha256:two" }), want: Upgrade},
		"other values, no upgrade left":           {release: func(r *v2.HelmRelease) { r.Status.UpgradeFailures = 1 }, stored: other(func(w *Wanted) { w.ConfigDigest = "sha256:two" }), want: GiveUp},
		"failed, of an unknown action":            {stored: stored(common.StatusFailed), want: Upgrade},
		"failed, changed since":                   {release: attempted(v2.ReleaseActionInstall, 0), stored: stored(common.StatusFailed), want: Upgrade},
		"failed, no retries":                      {release: attempted(v2.ReleaseActionInstall, 1), stored: stored(common.StatusFailed), want: GiveUp},
		"failed upgrade, no retries":              {release: attempted(v2.ReleaseActionUpgrade, 1), stored: stored(common.StatusFailed), want: GiveUp},
		"failed upgrade, retries for ever":        {release: func(r *v2.HelmRelease) { attempted(v2.ReleaseActionUpgrade, 9)(r); r.Spec.Upgrade = unlimited() }, stored: stored(common.StatusFailed), want: Upgrade},
		"failed upgrade, retries on failure":      {release: func(r *v2.HelmRelease) { attempted(v2.ReleaseActionUpgrade, 9)(r); retry(r) }, stored: stored(common.StatusFailed), want: Upgrade},
		"failed install, only upgrades retried":   {release: func(r *v2.HelmRelease) { attempted(v2.ReleaseActionInstall, 1)(r); r.Spec.Upgrade = unlimited() }, stored: stored(common.StatusFailed), want: GiveUp},
		"failed, though it is made of the wanted": {release: attempted(v2.ReleaseActionUpgrade, 0), stored: stored(common.StatusFailed), want: Upgrade},
	} {
		t.Run(name, func(t *testing.T) {
			release := &v2.HelmRelease{}
			release.Status.History = v2.Snapshots{{Version: 2}}
			if test.release != nil {
				test.release(release)
			}
			if got := Next(release, test.stored, wanted); got != test.want {
				t.Errorf("next is %q, want %q", got, test.want)
			}
		})
	}
}

func attempted(action v2.ReleaseAction, failures int64) func(*v2.HelmRelease) {
	return func(r *v2.HelmRelease) {
		r.Status.LastAttemptedReleaseAction = action
		r.Status.InstallFailures, r.Status.UpgradeFailures = failures, failures
	}
}

func unlimited() *v2.Upgrade {
	return &v2.Upgrade{Remediation: &v2.UpgradeRemediation{Retries: -1}}
}
