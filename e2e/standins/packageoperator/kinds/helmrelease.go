package kinds

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// HelmRelease is Flux's, with what the operator writes of it.
type HelmRelease struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec HelmReleaseSpec `json:"spec,omitempty"`
}

// HelmReleaseSpec says what is installed, and how. Periods are as Go writes them.
type HelmReleaseSpec struct {
	Interval   string             `json:"interval"`
	Suspend    bool               `json:"suspend,omitempty"`
	MaxHistory *int               `json:"maxHistory,omitempty"`
	ChartRef   *ChartRef          `json:"chartRef,omitempty"`
	DependsOn  []ReleaseReference `json:"dependsOn,omitempty"`
	Install    *Action            `json:"install,omitempty"`
	Upgrade    *Action            `json:"upgrade,omitempty"`
	ValuesFrom []ValuesReference  `json:"valuesFrom,omitempty"`
	// Values are as they came: whoever reads them sees the same text.
	Values *apiextensionsv1.JSON `json:"values,omitempty"`
}

// ChartRef names where the chart comes from.
type ChartRef struct {
	Kind      string `json:"kind"`
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
}

// ReleaseReference names another HelmRelease.
type ReleaseReference struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
}

// Action is how an install or upgrade is done.
type Action struct {
	Timeout  string   `json:"timeout,omitempty"`
	Strategy Strategy `json:"strategy"`
}

// Strategy is what becomes of a failed action.
type Strategy struct {
	Name          string `json:"name"`
	RetryInterval string `json:"retryInterval,omitempty"`
}

// ValuesReference names a Secret or ConfigMap with values.
type ValuesReference struct {
	Kind string `json:"kind"`
	Name string `json:"name"`
}

// HelmReleaseList is a list of HelmReleases.
type HelmReleaseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []HelmRelease `json:"items"`
}
