package packages

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cozystack/gitops-operator/e2e/standins/packageoperator/kinds"
)

const (
	// PackageLabel says on a HelmRelease which Package it is of.
	PackageLabel = "cozystack.io/package"
	// PrivilegedLabel says on a HelmRelease that it has privileged pods.
	PrivilegedLabel = "cozystack.io/privileged"
	// ValuesFilesAnnotation lists on a HelmRelease the values files of its chart.
	ValuesFilesAnnotation = "cozyhr.cozystack.io/values-files"

	// artifactNamespace is where the charts are.
	artifactNamespace = "cozy-system"
	// platformValues is the Secret with what the platform tells its charts.
	platformValues = "cozystack-values"

	interval   = "5m0s"
	timeout    = "10m0s"
	maxHistory = 5
)

// release is the HelmRelease of a component, as it is written.
func (r *Reconciler) release(ctx context.Context, pkg *kinds.Package, source *kinds.PackageSource, variant *kinds.Variant, component *kinds.Component) (*kinds.HelmRelease, error) {
	dependsOn, err := r.dependsOn(ctx, pkg, variant, component)
	if err != nil {
		return nil, err
	}
	action := kinds.Action{Timeout: timeout, Strategy: kinds.Strategy{Name: "RetryOnFailure", RetryInterval: r.RetryInterval.String()}}
	release := &kinds.HelmRelease{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: component.Install.Namespace, Name: component.ReleaseName(),
			Labels: map[string]string{PackageLabel: pkg.Name},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: kinds.GroupVersion.String(), Kind: "Package", Name: pkg.Name, UID: pkg.UID, Controller: new(true),
			}},
		},
		Spec: kinds.HelmReleaseSpec{
			Interval: interval, MaxHistory: new(maxHistory),
			ChartRef: &kinds.ChartRef{
				Kind: "ExternalArtifact", Namespace: artifactNamespace, Name: artifactName(source, variant, component),
			},
			DependsOn: dependsOn,
			Install:   new(action), Upgrade: new(action),
			Values: pkg.Spec.Components[component.Name].Values,
		},
	}
	if component.Install.Privileged {
		release.Labels[PrivilegedLabel] = "true"
	}
	if len(component.ValuesFiles) > 0 {
		release.Annotations = map[string]string{ValuesFilesAnnotation: strings.Join(component.ValuesFiles, ",")}
	}
	if source.Annotations[kinds.SkipValuesAnnotation] != "true" {
		release.Spec.ValuesFrom = []kinds.ValuesReference{{Kind: "Secret", Name: platformValues}}
	}
	return release, nil
}

func artifactName(source *kinds.PackageSource, variant *kinds.Variant, component *kinds.Component) string {
	return strings.ReplaceAll(fmt.Sprintf("%s-%s-%s", source.Name, variant.Name, component.Name), ".", "-")
}
