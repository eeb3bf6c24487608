package helm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	v2 "github.com/fluxcd/helm-controller/api/v2"
	"helm.sh/helm/v4/pkg/action"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/kube"
	"helm.sh/helm/v4/pkg/release"
	"helm.sh/helm/v4/pkg/release/common"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	"helm.sh/helm/v4/pkg/storage/driver"
)

// FieldManager is who owns what releases put into the cluster.
const FieldManager = "helm-controller"

func init() { kube.ManagedFieldsManager = FieldManager }

// Releases are the stored releases of one HelmRelease.
type Releases struct {
	configuration *action.Configuration
	object        *v2.HelmRelease
	name          string
}

// Open opens the releases that a HelmRelease has in a storage namespace.
func (a *Access) Open(object *v2.HelmRelease, storageNamespace string) (*Releases, error) {
	access := getter{Access: a, namespace: object.GetReleaseNamespace()}
	if account := object.Spec.ServiceAccountName; account != "" {
		access.user = fmt.Sprintf("system:serviceaccount:%s:%s", object.Namespace, account)
	}
	configuration := action.NewConfiguration(action.ConfigurationSetLogger(slog.DiscardHandler))
	if err := configuration.Init(access, storageNamespace, "secret"); err != nil {
		return nil, fmt.Errorf("open the releases of HelmRelease %s: %w", object.Name, err)
	}
	return &Releases{configuration: configuration, object: object, name: object.GetReleaseName()}, nil
}

// History lists what is stored, the newest first.
func (r *Releases) History() ([]*releasev1.Release, error) {
	stored, err := r.configuration.Releases.History(r.name)
	if err != nil && !errors.Is(err, driver.ErrReleaseNotFound) {
		return nil, fmt.Errorf("list stored releases of %s: %w", r.name, err)
	}
	return newestFirst(stored)
}

// Unlock marks the newest release as failed: whoever was making it is gone.
func (r *Releases) Unlock() error {
	history, err := r.History()
	if err != nil || len(history) == 0 {
		return err
	}
	pending := history[0]
	pending.SetStatus(common.StatusFailed, "Release unlocked from stale '"+string(pending.Info.Status)+"' state")
	if err := r.configuration.Releases.Update(pending); err != nil {
		return fmt.Errorf("unlock release %s: %w", r.name, err)
	}
	return nil
}

// Install installs the release and waits until its objects are ready.
func (r *Releases) Install(ctx context.Context, chart *chart.Chart, values map[string]any) error {
	spec := r.object.GetInstall()
	install := action.NewInstall(r.configuration)
	install.ReleaseName, install.Namespace = r.name, r.object.GetReleaseNamespace()
	install.Timeout = spec.GetTimeout(r.object.GetTimeout()).Duration
	install.WaitStrategy, install.WaitForJobs = wait(spec.DisableWait), !spec.DisableWaitForJobs
	install.DisableHooks, install.CreateNamespace, install.Replace = spec.DisableHooks, spec.CreateNamespace, spec.Replace
	install.ForceConflicts = true
	// The API server validates; reading its whole schema for each release takes long.
	install.DisableOpenAPIValidation = true
	_, err := install.RunWithContext(ctx, chart, values)
	return err
}

// Upgrade upgrades the release and waits until its objects are ready.
func (r *Releases) Upgrade(ctx context.Context, chart *chart.Chart, values map[string]any) error {
	spec := r.object.GetUpgrade()
	upgrade := action.NewUpgrade(r.configuration)
	upgrade.Namespace, upgrade.MaxHistory = r.object.GetReleaseNamespace(), r.object.GetMaxHistory()
	upgrade.Timeout = spec.GetTimeout(r.object.GetTimeout()).Duration
	upgrade.WaitStrategy, upgrade.WaitForJobs = wait(spec.DisableWait), !spec.DisableWaitForJobs
	upgrade.DisableHooks, upgrade.CleanupOnFail = spec.DisableHooks, spec.CleanupOnFail
	// Else Helm takes the values of the release before in place of empty ones, and what it
	// stores never is what was wanted.
	upgrade.ResetValues, upgrade.ReuseValues = !spec.PreserveValues, spec.PreserveValues
	upgrade.ForceConflicts = true
	upgrade.DisableOpenAPIValidation = true
	_, err := upgrade.RunWithContext(ctx, r.name, chart, values)
	return err
}

// Uninstall removes the release and all its objects; one that is not there is no error.
func (r *Releases) Uninstall() error {
	spec := r.object.GetUninstall()
	uninstall := action.NewUninstall(r.configuration)
	uninstall.Timeout = spec.GetTimeout(r.object.GetTimeout()).Duration
	uninstall.WaitStrategy = wait(spec.DisableWait)
	uninstall.DisableHooks, uninstall.KeepHistory = spec.DisableHooks, spec.KeepHistory
	uninstall.DeletionPropagation = spec.GetDeletionPropagation()
	uninstall.IgnoreNotFound = true
	_, err := uninstall.Run(r.name)
	return err
}

func wait(disabled bool) kube.WaitStrategy {
	if disabled {
		return kube.HookOnlyStrategy
	}
	return kube.StatusWatcherStrategy
}

func newestFirst(stored []release.Releaser) ([]*releasev1.Release, error) {
	var releases []*releasev1.Release
	for _, one := range stored {
		known, ok := one.(*releasev1.Release)
		if !ok {
			return nil, fmt.Errorf("read a stored release: unknown type %T", one)
		}
		releases = append(releases, known)
	}
	sortNewestFirst(releases)
	return releases, nil
}
