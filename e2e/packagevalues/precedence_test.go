package packagevalues_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestPrecedence: the chart's defaults, the platform's values, the Package, and the
// PackageValues, each over the one before, as Helm renders it.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	operator.AwaitReady(t)
	const name = "precedence"
	newPackage(t, name, "{from: package, package: only, replicas: 2, limits: {cpu: 2}}")
	awaitRendered(t, name, `{from: package, chart: only, platform: only, package: only, replicas: 2, limits: {cpu: 2, memory: 1Gi}}`)

	overrideWeb(t, name, "{values: {from: override, override: only, limits: {memory: 4Gi}}}")
	awaitRendered(t, name, `{from: override, chart: only, platform: only, package: only, override: only, replicas: 2, limits: {cpu: 2, memory: 4Gi}}`)
	values := awaitState(t, name, metav1.ConditionTrue, "Succeeded")
	if values.Status.Releases != "1/1" || values.Status.Overridden != 3 {
		t.Errorf("the status is %s", text(t, values.Status))
	}

	// A null removes what the Package has, and what the chart has by default.
	overrideWeb(t, name, "{values: {package: null, chart: null, limits: {cpu: null}}, unset: [platform, limits.memory]}")
	// Helm takes away what the chart has; a null that it has no default for stays, as nothing.
	awaitRendered(t, name, `{from: package, package: null, platform: null, replicas: 2, limits: {}}`)

	overrideWeb(t, name, "{values: {replicas: 5}}")
	awaitRendered(t, name, `{from: package, chart: only, platform: only, package: only, replicas: 5, limits: {cpu: 2, memory: 1Gi}}`)

	remove(t, object(t, "PackageValues", name, "{}"))
	awaitRendered(t, name, `{from: package, chart: only, platform: only, package: only, replicas: 2, limits: {cpu: 2, memory: 1Gi}}`)
}
