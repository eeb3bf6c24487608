package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// GitOpsParametersName is the only name a GitOpsParameters may have.
const GitOpsParametersName = "gitops"

// DefaultMaxArtifactSize is how large an artifact may be where the admin does not say.
const DefaultMaxArtifactSize = "50Mi"

// DefaultMaxSources is how many sources a tenant's namespace may have where the admin
// does not say.
const DefaultMaxSources = 20

// DefaultAdminGroups are the AdminGroups of a GitOpsParameters that names none: the API
// server's own group of cluster-admins, and the one that kubeadm's admin.conf belongs to.
func DefaultAdminGroups() []string {
	return []string{"system:masters", "kubeadm:cluster-admins"}
}

// GitOpsParametersSpec is what the platform's admin decides for all tenants. The
// admission policies read it; a change counts from the next write on.
//
//	spec:
//	  allowedHosts: [git.acme.internal]
//	  allowSubmodules: true
type GitOpsParametersSpec struct {
	// AdminGroups are the groups whose members the policies for tenants do not hold; by
	// default cluster-admins, kubeadm's among them.
	// +optional
	// +listType=set
	// +kubebuilder:default={"system:masters","kubeadm:cluster-admins"}
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	AdminGroups []string `json:"adminGroups,omitempty"`

	// AllowedHosts are hosts, without a port, that sources may name although they look
	// internal: an address, a name of one label, one below .svc, .local or .internal.
	// A host of the public DNS needs no entry.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	AllowedHosts []string `json:"allowedHosts,omitempty"`

	// AllowSubmodules lets sources set recurseSubmodules. Flux sends the credentials of
	// the repository to whatever host a submodule names.
	// +optional
	AllowSubmodules bool `json:"allowSubmodules,omitempty"`

	// MinInterval is the shortest interval at which a source may be fetched.
	// +optional
	// +kubebuilder:default="30s"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern="^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="must be between 1s and 24h"
	MinInterval metav1.Duration `json:"minInterval,omitzero"`

	// MaxTimeout is the longest that one fetch may take.
	// +optional
	// +kubebuilder:default="5m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern="^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('24h')",message="must be between 1s and 24h"
	MaxTimeout metav1.Duration `json:"maxTimeout,omitzero"`

	// MaxArtifactSize is how large, packed, may be what a source in a tenant's namespace
	// fetches. A larger one is suspended, until its url, ref or ignore changes or this is
	// raised, which counts at once.
	// +optional
	// +kubebuilder:default="50Mi"
	// +kubebuilder:validation:XValidation:rule="quantity(string(self)).isGreaterThan(quantity('0'))",message="maxArtifactSize must be more than nothing, for example 50Mi"
	MaxArtifactSize *resource.Quantity `json:"maxArtifactSize,omitempty"`

	// MaxSources is how many GitRepositories and OCIRepositories a tenant's namespace may
	// have, those of its TenantGitOps counted, before no other can be written there by hand.
	// The sources of the TenantGitOps itself are always made.
	// +optional
	// +kubebuilder:default=20
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	MaxSources int32 `json:"maxSources,omitempty"`

	// SourceEgress contains what source-controller, which fetches for all tenants, may
	// reach, where it is a pod of the pod network.
	// +optional
	// +kubebuilder:default={}
	SourceEgress SourceEgress `json:"sourceEgress,omitzero"`
}

// SourceEgressMode says what source-controller may reach.
//
// +kubebuilder:validation:Enum=Open;PublicOnly
type SourceEgressMode string

const (
	// SourceEgressOpen leaves it as it is.
	SourceEgressOpen SourceEgressMode = "Open"
	// SourceEgressPublicOnly leaves it the public internet, and what it needs.
	SourceEgressPublicOnly SourceEgressMode = "PublicOnly"
)

// SourceEgress is what source-controller may reach. Admission sees the host of a url, and
// neither what the name resolves to nor where the server redirects.
//
//	sourceEgress:
//	  mode: PublicOnly
//	  allowedNetworks: [10.20.0.0/24]   # where git.acme.internal is
type SourceEgress struct {
	// Mode is Open, or PublicOnly: the public internet, DNS, the API server and Flux's own
	// pods, and allowedNetworks. It holds for the platform's own sources as well, so list
	// the networks that they are fetched from.
	// +optional
	// +kubebuilder:default=Open
	Mode SourceEgressMode `json:"mode,omitempty"`

	// AllowedNetworks are the internal address blocks that may be reached all the same.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MaxLength=43
	// +kubebuilder:validation:items:XValidation:rule="isCIDR(self)",message="write an address block, such as 10.20.0.0/24"
	AllowedNetworks []string `json:"allowedNetworks,omitempty"`
}

// ArtifactBound is MaxArtifactSize, or the default of it where there are no parameters.
func (p *GitOpsParameters) ArtifactBound() resource.Quantity {
	if p == nil || p.Spec.MaxArtifactSize == nil {
		return resource.MustParse(DefaultMaxArtifactSize)
	}
	return *p.Spec.MaxArtifactSize
}

// GitOpsParametersStatus tells the platform's admin what holds and what does not.
type GitOpsParametersStatus struct {
	// Conditions: ArtifactsSealed says whether artifacts can be read by strangers,
	// SourcesContained whether a source may lead to an internal address.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// GitOpsParameters is the one object, called gitops, by which the platform's admin sets
// what tenants' sources may be.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,path=gitopsparameters,singular=gitopsparameters
// +kubebuilder:printcolumn:name="Sealed",type=string,JSONPath=`.status.conditions[?(@.type=="ArtifactsSealed")].status`
// +kubebuilder:printcolumn:name="Contained",type=string,JSONPath=`.status.conditions[?(@.type=="SourcesContained")].status`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name == 'gitops'",message="there is one GitOpsParameters: set metadata.name to gitops"
type GitOpsParameters struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	// +kubebuilder:default={}
	Spec GitOpsParametersSpec `json:"spec,omitzero"`
	// +optional
	Status GitOpsParametersStatus `json:"status,omitzero"`
}

// GitOpsParametersList is a list of GitOpsParameters.
//
// +kubebuilder:object:root=true
type GitOpsParametersList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []GitOpsParameters `json:"items"`
}
