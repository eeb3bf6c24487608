package helm

import (
	"encoding/json"
	"fmt"
	"slices"

	v2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/chartutil"
	"github.com/opencontainers/go-digest"
	releasev1 "helm.sh/helm/v4/pkg/release/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cozystack/gitops-operator/e2e/standins/helmcontroller/plan"
)

func sortNewestFirst(releases []*releasev1.Release) {
	slices.SortFunc(releases, func(a, b *releasev1.Release) int { return b.Version - a.Version })
}

// Snapshots is a history as a HelmRelease's status has it.
func Snapshots(releases []*releasev1.Release) (v2.Snapshots, error) {
	var snapshots v2.Snapshots
	for _, one := range releases {
		snapshot, err := snapshotOf(one)
		if err != nil {
			return nil, err
		}
		snapshots = append(snapshots, snapshot)
	}
	return snapshots, nil
}

func snapshotOf(one *releasev1.Release) (*v2.Snapshot, error) {
	content, err := json.Marshal(one)
	if err != nil {
		return nil, fmt.Errorf("encode release %s: %w", one.Name, err)
	}
	return &v2.Snapshot{
		Digest: digest.FromBytes(content).String(),
		Name:   one.Name, Namespace: one.Namespace, Version: one.Version, Status: string(one.Info.Status),
		ChartName: one.Chart.Name(), ChartVersion: one.Chart.Metadata.Version,
		ConfigDigest:  ConfigDigest(one.Config),
		FirstDeployed: metav1.NewTime(one.Info.FirstDeployed),
		LastDeployed:  metav1.NewTime(one.Info.LastDeployed),
		Deleted:       metav1.NewTime(one.Info.Deleted),
	}, nil
}

// ConfigDigest tells values apart.
func ConfigDigest(values map[string]any) string {
	return chartutil.DigestValues(digest.Canonical, values).String()
}

// Stored is the newest of a history, nil if it is empty.
func Stored(history []*releasev1.Release) *plan.Stored {
	if len(history) == 0 {
		return nil
	}
	newest := history[0]
	return &plan.Stored{
		Wanted: plan.Wanted{
			Chart: newest.Chart.Name(), ChartVersion: newest.Chart.Metadata.Version, ConfigDigest: ConfigDigest(newest.Config),
		},
		Version: newest.Version, Status: newest.Info.Status,
	}
}
