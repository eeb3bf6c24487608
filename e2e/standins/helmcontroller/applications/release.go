package applications

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	v2 "github.com/fluxcd/helm-controller/api/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// Labels of a release that say which application it is of.
	kindLabel  = Group + "/application.kind"
	groupLabel = Group + "/application.group"
	nameLabel  = Group + "/application.name"
	// carriedPrefix begins the keys of an application's labels and annotations on its
	// release.
	carriedPrefix = Group + "-"
	// platformValues is the Secret of each tenant with what the platform tells its charts.
	platformValues = "cozystack-values"

	interval = 5 * time.Minute
	// forEver is how often a failed release is tried again.
	forEver = -1
)

// Release is the HelmRelease of an application, as the platform makes it.
func (d Definition) Release(application *unstructured.Unstructured) (*v2.HelmRelease, error) {
	spec, err := json.Marshal(application.Object["spec"])
	if err != nil {
		return nil, fmt.Errorf("encode spec of %s %s: %w", d.Kind, client.ObjectKeyFromObject(application), err)
	}
	labels := map[string]string{}
	maps.Copy(labels, d.Labels)
	maps.Copy(labels, carried(application.GetLabels()))
	labels[kindLabel], labels[groupLabel], labels[nameLabel] = d.Kind, Group, application.GetName()
	chart := d.Chart
	release := &v2.HelmRelease{
		TypeMeta: metav1.TypeMeta{APIVersion: v2.GroupVersion.String(), Kind: v2.HelmReleaseKind},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: application.GetNamespace(), Name: d.Prefix + application.GetName(),
			Labels: labels, Annotations: carried(application.GetAnnotations()),
		},
		Spec: v2.HelmReleaseSpec{
			ChartRef:   &chart,
			Interval:   metav1.Duration{Duration: interval},
			Install:    &v2.Install{Remediation: &v2.InstallRemediation{Retries: forEver}},
			Upgrade:    &v2.Upgrade{Remediation: &v2.UpgradeRemediation{Retries: forEver}},
			ValuesFrom: []v2.ValuesReference{{Kind: "Secret", Name: platformValues}},
		},
	}
	if string(spec) != "null" {
		release.Spec.Values = &apiextensionsv1.JSON{Raw: spec}
	}
	return release, nil
}

func carried(pairs map[string]string) map[string]string {
	prefixed := map[string]string{}
	for key, value := range pairs {
		prefixed[carriedPrefix+key] = value
	}
	return prefixed
}

// isOf tells whether a release is that of an application.
func isOf(release client.Object, kind, name string) bool {
	labels := release.GetLabels()
	return labels[groupLabel] == Group && labels[kindLabel] == kind && labels[nameLabel] == name
}

// applied is a release as it is sent to be applied: without what only the API writes.
func applied(release *v2.HelmRelease) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(release)
	if err != nil {
		return nil, fmt.Errorf("encode HelmRelease %s: %w", release.Name, err)
	}
	delete(content, "status")
	object := &unstructured.Unstructured{Object: content}
	unstructured.RemoveNestedField(content, "metadata", "creationTimestamp")
	return object, nil
}
