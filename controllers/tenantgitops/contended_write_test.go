package tenantgitops

import (
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
)

// contendedMessage is what Flux says where the applications API was not the only writer.
const contendedMessage = `Postgres/tenant-acme/db apply failed: failed to update HelmRelease: Operation cannot be fulfilled on helmreleases.helm.toolkit.fluxcd.io "postgres-db": the object has been modified; please apply your changes to the latest version and try again`

// TestContendedIsNotAskedOverAndOver goes through the times at which Flux was asked last.
func TestContendedIsNotAskedOverAndOver(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, tc := range map[string]struct {
		asked string
		want  time.Duration
	}{
		"never":             {"", 0},
		"just now":          {now.Format(time.RFC3339Nano), contendedInterval},
		"a moment ago":      {now.Add(-3 * time.Second).Format(time.RFC3339Nano), contendedInterval - 3*time.Second},
		"long ago":          {now.Add(-time.Hour).Format(time.RFC3339Nano), 0},
		"by hand":           {"please", 0},
		"in a time to come": {now.Add(time.Hour).Format(time.RFC3339Nano), 0},
	} {
		k := &kustomizev1.Kustomization{}
		if tc.asked != "" {
			k.Annotations = map[string]string{meta.ReconcileRequestAnnotation: tc.asked}
		}
		if got := max(leftAlone(k, now), 0); got != tc.want {
			t.Errorf("%s: got %v, want %v", name, got, tc.want)
		}
	}
}
