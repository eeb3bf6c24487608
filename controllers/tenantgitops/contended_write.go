package tenantgitops

import (
	"context"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"

	"github.com/cozystack/gitops-operator/internal/fluxstatus"
)

// contendedInterval is how long the operator leaves Flux alone after it has asked for
// another attempt: whoever else writes is done by then.
const contendedInterval = 10 * time.Second

// askContended asks Flux to try again what was contended, or a tenant's first application
// would often be there only after retryInterval. It returns after how long to look again.
func (p *pass) askContended(ctx context.Context) (time.Duration, error) {
	var after time.Duration
	for _, name := range sortedKeys(p.live.kustomizations) {
		k := p.live.kustomizations[name]
		if !isStamped(k) || k.Spec.Suspend || !fluxstatus.IsContended(fluxstatus.ReadyCondition(k.Status.Conditions, k.Generation)) {
			continue
		}
		now := time.Now()
		if wait := leftAlone(k, now); wait > 0 {
			after = sooner(after, wait)
			continue
		}
		if err := p.Applier.Request(ctx, k, now); err != nil {
			return 0, err
		}
	}
	return after, nil
}

// leftAlone is how long Flux is not to be asked again.
func leftAlone(k *kustomizev1.Kustomization, now time.Time) time.Duration {
	value, _ := meta.ReconcileAnnotationValue(k.GetAnnotations())
	asked, err := time.Parse(time.RFC3339Nano, value)
	if err != nil || asked.After(now) {
		return 0
	}
	return contendedInterval - now.Sub(asked)
}
