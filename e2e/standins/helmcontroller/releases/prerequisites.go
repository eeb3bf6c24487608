package releases

import (
	"context"
	"errors"
	"fmt"

	v2 "github.com/fluxcd/helm-controller/api/v2"
	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/chartutil"
	"github.com/fluxcd/pkg/runtime/conditions"
	chart "helm.sh/helm/v4/pkg/chart/v2"
	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/standins/helmcontroller/charts"
)

// Reasons that helm-controller gives without naming them in its API.
const (
	sourceNotReadyReason = "SourceNotReady"
	valuesErrorReason    = "ValuesError"
)

// checkDependencies waits for the releases that this one depends on.
func (p *pass) checkDependencies(ctx context.Context) error {
	for _, dependency := range p.object.Spec.DependsOn {
		key := client.ObjectKey{Namespace: dependency.Namespace, Name: dependency.Name}
		if key.Namespace == "" {
			key.Namespace = p.object.Namespace
		}
		other := &v2.HelmRelease{}
		err := p.Live.Get(ctx, key, other)
		switch {
		case err != nil:
			err = fmt.Errorf("unable to get '%s' dependency: %w", key, err)
		case other.Generation != other.Status.ObservedGeneration || !conditions.IsReady(other):
			err = fmt.Errorf("dependency '%s' is not ready", key)
		default:
			continue
		}
		p.Events.Event(p.object, corev1.EventTypeNormal, v2.DependencyNotReadyReason, err.Error())
		return p.notReady(v2.DependencyNotReadyReason, err.Error(), errNotYet)
	}
	p.passed(v2.DependencyNotReadyReason)
	return nil
}

// loadChart loads the chart of the source that the HelmRelease names.
func (p *pass) loadChart() (*chart.Chart, error) {
	kind, namespace, name := source(p.object)
	loaded, err := p.Charts.Load(name)
	if errors.Is(err, charts.ErrNoArtifact) {
		message := fmt.Sprintf("%s '%s/%s' is not ready: %s", kind, namespace, name, err)
		return nil, p.notReady(sourceNotReadyReason, message, errNotYet)
	}
	if err != nil {
		p.Events.Event(p.object, corev1.EventTypeWarning, v2.ArtifactFailedReason, err.Error())
		return nil, p.notReady(v2.ArtifactFailedReason, "Could not load chart: "+err.Error(), err)
	}
	p.passed(sourceNotReadyReason, v2.ArtifactFailedReason)
	return loaded, nil
}

func source(object *v2.HelmRelease) (kind, namespace, name string) {
	if object.HasChartTemplate() {
		return "HelmChart", object.Spec.Chart.GetNamespace(object.Namespace), object.Spec.Chart.Spec.Chart
	}
	reference := object.Spec.ChartRef
	if reference.Namespace == "" {
		return reference.Kind, object.Namespace, reference.Name
	}
	return reference.Kind, reference.Namespace, reference.Name
}

// composeValues merges what the HelmRelease refers to with what it says itself.
func (p *pass) composeValues(ctx context.Context) (map[string]any, error) {
	values, err := chartutil.ChartValuesFromReferences(ctx, ctrl.LoggerFrom(ctx), p.Client,
		p.object.Namespace, p.object.GetValues(), p.object.Spec.ValuesFrom...)
	if err != nil {
		p.Events.Event(p.object, corev1.EventTypeWarning, valuesErrorReason, err.Error())
		return nil, p.notReady(valuesErrorReason, err.Error(), err)
	}
	p.passed(valuesErrorReason)
	return values, nil
}

// begin says that it has begun, so that whoever waits does not take the state before
// for the new one.
func (p *pass) begin(ctx context.Context) error {
	conditions.MarkReconciling(p.object, meta.ProgressingReason, "Fulfilling prerequisites")
	return p.patch(ctx)
}
