// Package plan decides what is next for a release, as Flux's helm-controller does, from
// what the HelmRelease says and what Helm has stored.
//
// One thing is simpler here: a failed release that may be retried is upgraded again at
// once, where helm-controller, unless the strategy is RetryOnFailure, first rolls back
// or uninstalls.
package plan

import (
	v2 "github.com/fluxcd/helm-controller/api/v2"
	"helm.sh/helm/v4/pkg/release/common"
)

// Action is what is to be done to a release.
type Action string

// The actions, of which Install and Upgrade are Helm's.
const (
	Nothing Action = "nothing"
	Install Action = "install"
	Upgrade Action = "upgrade"
	// Unlock marks a release as failed that was being made when its maker died.
	Unlock Action = "unlock"
	// GiveUp waits for a change of the HelmRelease: the retries are spent.
	GiveUp Action = "give up"
)

// Wanted is what the release shall be made of.
type Wanted struct {
	Chart, ChartVersion, ConfigDigest string
}

// Stored is the newest release that Helm has stored.
type Stored struct {
	Wanted
	Version int
	Status  common.Status
}

// Next tells what to do; nothing stored is nil.
func Next(release *v2.HelmRelease, stored *Stored, wanted Wanted) Action {
	switch {
	case stored == nil || stored.Status == common.StatusUninstalled:
		install := release.GetInstall()
		return unlessExhausted(release, Install, install.GetRetry(false), install.GetRemediation())
	case stored.Status.IsPending():
		return Unlock
	case !manages(release, stored):
		return Upgrade
	case stored.Status == common.StatusFailed:
		return afterFailure(release)
	case stored.Wanted == wanted:
		return Nothing
	}
	upgrade := release.GetUpgrade()
	return unlessExhausted(release, Upgrade, upgrade.GetRetry(false), upgrade.GetRemediation())
}

// manages tells a release that the HelmRelease knows from one that somebody else made.
func manages(release *v2.HelmRelease, stored *Stored) bool {
	known := release.Status.History.Latest()
	return known != nil && known.Version == stored.Version
}

func afterFailure(release *v2.HelmRelease) Action {
	remediation := release.GetActiveRemediation()
	// Without a count, what made it fail has changed since.
	if remediation == nil || remediation.GetFailureCount(release) == 0 {
		return Upgrade
	}
	return unlessExhausted(release, Upgrade, release.GetActiveRetry(false), remediation)
}

func unlessExhausted(release *v2.HelmRelease, action Action, retry v2.Retry, remediation v2.Remediation) Action {
	if retry == nil && remediation.RetriesExhausted(release) {
		return GiveUp
	}
	return action
}
