package harness

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/metrics"
)

// Reconciliations are how often the operators of this process have reconciled with a result, by
// the name of the controller: "success", "requeue_after" where another look is asked for, and
// "error", each of which is logged as one.
func Reconciliations(t *testing.T, controller, result string) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != "controller_runtime_reconcile_total" {
			continue
		}
		for _, counted := range family.GetMetric() {
			labels := map[string]string{}
			for _, label := range counted.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			if labels["controller"] == controller && labels["result"] == result {
				return counted.GetCounter().GetValue()
			}
		}
	}
	return 0
}
