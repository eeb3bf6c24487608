package v1alpha1

import (
	"github.com/fluxcd/pkg/apis/meta"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// CustomizerKind is the kind of a Customizer.
	CustomizerKind = "Customizer"
	// CustomizerNamespace is where what a Customizer stamps lives: beside the platform's own
	// Packages' sources.
	CustomizerNamespace = "cozy-system"
)

// CustomizerSpec says which repository customizes the platform, and what it may do.
type CustomizerSpec struct {
	// Source is the repository. Its Secrets are in cozy-system.
	//
	//	source:
	//	  git:
	//	    url: https://git.example.org/acme/platform
	//	    ref: {branch: main}
	//	    secretRef: {name: platform.gitops}
	//
	// +required
	Source CustomizerSource `json:"source"`

	// Kustomization says what of it is applied, and how.
	// +optional
	// +kubebuilder:default={}
	Kustomization CustomizerKustomization `json:"kustomization,omitzero"`

	// RBAC is what the repository may do.
	// +optional
	// +kubebuilder:default={}
	RBAC CustomizerRBAC `json:"rbac,omitzero"`

	// Guards refuse the repository what breaks a platform by accident, whatever its profile.
	// +optional
	Guards CustomizerGuards `json:"guards,omitzero"`

	// Suspend stops the fetching and applying. What was applied stays as it is.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
}

// CustomizerSource is where the repository is.
//
// +kubebuilder:validation:XValidation:rule="has(self.git) != has(self.oci)",message="a source is either a git repository or an OCI artifact: set exactly one of git and oci"
// +kubebuilder:validation:XValidation:rule="!has(self.git) || !has(self.git.deployKey)",message="deployKey: Generate is for tenants, who cannot write Secrets: create a Secret called <something>.gitops in cozy-system with identity and known_hosts, and name it in secretRef",fieldPath=".git"
type CustomizerSource struct {
	// Git is a git repository over HTTPS or SSH.
	// +optional
	Git *GitSource `json:"git,omitempty"`
	// OCI is an artifact in an OCI registry.
	// +optional
	OCI *OCISource `json:"oci,omitempty"`
}

// CustomizerKustomization says what of the repository is applied, and how. Fields that Flux
// has are called, and behave, as Flux's own.
//
// +kubebuilder:validation:XValidation:rule="!has(self.wait) || !self.wait || !has(self.healthChecks) || self.healthChecks.size() == 0",message="wait looks at everything that is applied, and Flux takes no notice of healthChecks beside it: remove wait, or remove healthChecks"
// +kubebuilder:validation:XValidation:rule="!has(self.decryption) || !has(self.decryption.ageKey)",message="ageKey: Generate is for tenants, who cannot write Secrets: create a Secret called <something>.gitops in cozy-system with a key that ends in .agekey, and name it in secretRef",fieldPath=".decryption"
type CustomizerKustomization struct {
	// Path of the directory to apply, relative to the root of the repository: one with a
	// kustomization.yaml, such as the overlay of this cluster, or with plain manifests.
	// +optional
	// +kubebuilder:default="./"
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="!self.split('/').exists(p, p == '..')",message="path must stay inside the repository: remove the '..' parts"
	Path string `json:"path,omitempty"`

	// Interval at which what is applied is compared with the repository and put right, 30s to
	// 24h.
	// +optional
	// +kubebuilder:default="10m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern="^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('30s') && duration(self) <= duration('24h')",message="interval must be between 30s and 24h"
	Interval metav1.Duration `json:"interval,omitzero"`

	// RetryInterval is the wait after a failure, 10s to 24h.
	// +optional
	// +kubebuilder:default="1m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern="^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('10s') && duration(self) <= duration('24h')",message="retryInterval must be between 10s and 24h"
	RetryInterval *metav1.Duration `json:"retryInterval,omitempty"`

	// Timeout of building, applying and waiting for health, 30s to 1h.
	// +optional
	// +kubebuilder:default="5m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern="^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('30s') && duration(self) <= duration('1h')",message="timeout must be between 30s and 1h: Flux takes a shorter one for 30s"
	Timeout *metav1.Duration `json:"timeout,omitempty"`

	// Prune deletes objects whose manifest is removed from the repository. The bootstrap
	// Package is never deleted, and no Package is where the profile is not ClusterAdmin; any
	// other object can be kept with the annotation
	// kustomize.toolkit.fluxcd.io/prune: disabled.
	// +optional
	// +kubebuilder:default=true
	Prune *bool `json:"prune,omitempty"`

	// DeletionPolicy says what becomes of the objects when the Customizer is deleted. Orphan
	// (the default) leaves them as they are.
	// +optional
	// +kubebuilder:default=Orphan
	// +kubebuilder:validation:Enum=Orphan;Delete;WaitForTermination;MirrorPrune
	DeletionPolicy string `json:"deletionPolicy,omitempty"`

	// Wait makes the Customizer ready only when all that it applied is healthy.
	// +optional
	Wait bool `json:"wait,omitempty"`

	// Decryption of files encrypted with SOPS.
	// +optional
	Decryption *Decryption `json:"decryption,omitempty"`

	// HealthChecks lists the objects whose health makes the Customizer ready, where Wait is
	// off: the platform's bootstrap Package, unless something else is listed here; [] is for
	// none.
	//
	//	healthChecks:
	//	- {apiVersion: cozystack.io/v1alpha1, kind: Package, name: cozystack.cozystack-platform}
	//
	// +optional
	// +kubebuilder:validation:MaxItems=100
	HealthChecks *[]meta.NamespacedObjectKindReference `json:"healthChecks,omitempty"`

	// PostBuild substitutes ${variables} in the built manifests.
	// +optional
	PostBuild *PostBuild `json:"postBuild,omitempty"`
}

// CustomizerProfile is what the repository may do.
// +kubebuilder:validation:Enum=Curated;OverridesOnly;ClusterAdmin
type CustomizerProfile string

const (
	// ProfileCurated may write PackageValues, Packages (not delete them) and what an admin of a
	// platform commonly adds to it, and what it likes in its own namespaces.
	ProfileCurated CustomizerProfile = "Curated"
	// ProfileOverridesOnly may write PackageValues, and read the rest.
	ProfileOverridesOnly CustomizerProfile = "OverridesOnly"
	// ProfileClusterAdmin may do everything.
	ProfileClusterAdmin CustomizerProfile = "ClusterAdmin"
)

// CustomizerRBAC is what the repository may do.
//
// +kubebuilder:validation:XValidation:rule="self.profile != 'OverridesOnly' || !has(self.ownedNamespaces) || self.ownedNamespaces.size() == 0",message="a repository that may only override has no namespace of its own: remove ownedNamespaces, or use the profile Curated",fieldPath=".ownedNamespaces"
// +kubebuilder:validation:XValidation:rule="self.profile == 'Curated' || !has(self.extraRules) || self.extraRules.size() == 0",message="extraRules add to the profile Curated: remove them, or use that profile",fieldPath=".extraRules"
type CustomizerRBAC struct {
	// Profile is Curated, OverridesOnly or ClusterAdmin. Curated keeps accidents small; it is
	// no wall: whoever may change a Package may have the platform run anything.
	// +optional
	// +kubebuilder:default=Curated
	Profile CustomizerProfile `json:"profile,omitempty"`

	// OwnedNamespaces are made if they are not there, and the repository may write the usual
	// objects in them. They are never deleted.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="self.all(n, n != 'default' && n != 'kube' && n != 'cozy' && !n.startsWith('kube-') && !n.startsWith('cozy-') && !n.startsWith('tenant-'))",message="ownedNamespaces are the repository's own: default, kube-*, cozy-* and tenant-* are the platform's, use another name"
	OwnedNamespaces []string `json:"ownedNamespaces,omitempty"`

	// ExtraRules are added to the profile Curated, cluster-wide. The operator can grant only
	// what it has been given: where it may not, the status says how to give it. A star is not
	// accepted.
	//
	//	extraRules:
	//	- apiGroups: [cert-manager.io]
	//	  resources: [clusterissuers]
	//	  verbs: [get, list, watch, create, patch, delete]
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	ExtraRules []ExtraRule `json:"extraRules,omitempty"`
}

// ExtraRule is a rule of a ClusterRole, with neither stars nor the verbs by which one becomes
// somebody else.
//
// +kubebuilder:validation:XValidation:rule="!('*' in self.apiGroups) && !('*' in self.resources) && !('*' in self.verbs)",message="an extra rule names what it is for: write groups, resources and verbs in place of the star"
// +kubebuilder:validation:XValidation:rule="!self.verbs.exists(v, v in ['escalate', 'bind', 'impersonate'])",message="escalate, bind and impersonate make a repository cluster-admin: remove them, or use the profile ClusterAdmin"
type ExtraRule struct {
	// APIGroups of the resources; "" is the core group.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MaxLength=253
	APIGroups []string `json:"apiGroups"`
	// Resources, in the plural, as in kubectl api-resources.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	Resources []string `json:"resources"`
	// ResourceNames narrow the rule to objects of these names.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	ResourceNames []string `json:"resourceNames,omitempty"`
	// Verbs, such as get, list, watch, create, patch, delete. Flux needs get, create and patch
	// to apply, and delete to prune.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	Verbs []string `json:"verbs"`
}

// PolicyRule is the rule as it is granted.
func (r *ExtraRule) PolicyRule() rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: r.APIGroups, Resources: r.Resources, ResourceNames: r.ResourceNames, Verbs: r.Verbs}
}

// CustomizerGuards refuse at admission what the repository's account tries, whatever its
// profile. They hold as long as the Customizer is there.
type CustomizerGuards struct {
	// SupplyChain refuses every change of the source cozystack-packages in cozy-system, which
	// all that the platform runs is made from.
	// +optional
	SupplyChain bool `json:"supplyChain,omitempty"`
	// PackageFields refuses to take fields of a Package from helm-controller, and to delete
	// such a Package; use PackageValues instead. The bootstrap Package
	// cozystack.cozystack-platform, which nobody owns, stays free.
	// +optional
	PackageFields bool `json:"packageFields,omitempty"`
}

// CustomizerStatus is how far the repository has come.
type CustomizerStatus struct {
	// ObservedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// LastHandledReconcileAt is the value of the annotation
	// reconcile.fluxcd.io/requestedAt that was acted upon last.
	meta.ReconcileRequestStatus `json:",inline"`

	// Conditions are Ready, Reconciling and Stalled, as kstatus reads them, and RulesResolved.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Account is the service account, in cozy-system, that the repository is applied as. All
	// that is stamped for the Customizer is called so.
	// +optional
	Account string `json:"account,omitempty"`

	// Revision is what was fetched last, for example main@sha1:4c2f….
	// +optional
	Revision string `json:"revision,omitempty"`

	// AppliedRevision is what is applied.
	// +optional
	AppliedRevision string `json:"appliedRevision,omitempty"`

	// LastAppliedAt is when AppliedRevision was applied first.
	// +optional
	LastAppliedAt *metav1.Time `json:"lastAppliedAt,omitempty"`

	// Objects is how many objects the repository has in the cluster.
	// +optional
	Objects int64 `json:"objects"`

	// OwnedNamespaces are those that the repository may write in now.
	// +optional
	// +listType=set
	OwnedNamespaces []string `json:"ownedNamespaces,omitempty"`

	// UnresolvedRules are resources that a rule is for and that this cluster does not serve,
	// as <resource>.<group>: a typing error, or a part of the platform that is not installed.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	UnresolvedRules []string `json:"unresolvedRules,omitempty"`
}

// Customizer applies a repository to the platform. Write access to that repository is
// cluster-admin.
//
//	apiVersion: gitops.cozystack.io/v1alpha1
//	kind: Customizer
//	metadata:
//	  name: platform
//	spec:
//	  source:
//	    git:
//	      url: https://git.example.org/acme/platform
//	      ref: {branch: main}
//	  kustomization:
//	    path: ./overlays/production
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=customizers,singular=customizer,scope=Cluster,shortName=cust,categories=gitops
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Profile",type="string",JSONPath=".spec.rbac.profile"
// +kubebuilder:printcolumn:name="Revision",type="string",JSONPath=".status.appliedRevision"
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].message"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 40 && self.metadata.name.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="a Customizer's name is at most 40 lower-case letters, digits and dashes: its service account is called after it"
type Customizer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec CustomizerSpec `json:"spec"`
	// +optional
	Status CustomizerStatus `json:"status,omitempty"`
}

// GetConditions returns the status conditions, for fluxcd/pkg/runtime.
func (c *Customizer) GetConditions() []metav1.Condition { return c.Status.Conditions }

// SetConditions replaces the status conditions, for fluxcd/pkg/runtime.
func (c *Customizer) SetConditions(conditions []metav1.Condition) { c.Status.Conditions = conditions }

// CustomizerList is a list of Customizers.
//
// +kubebuilder:object:root=true
type CustomizerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Customizer `json:"items"`
}
