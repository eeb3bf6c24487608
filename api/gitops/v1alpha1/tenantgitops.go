package v1alpha1

import (
	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// TenantGitOpsKind is the kind of a TenantGitOps.
	TenantGitOpsKind = "TenantGitOps"
	// TenantGitOpsName is the only name a TenantGitOps may have: a tenant
	// namespace holds one.
	TenantGitOpsName = "gitops"
	// SecretSuffix ends the name of every Secret that a source may name. No
	// release and no application can be called like that (their names hold no
	// dot), so a tenant cannot borrow a Secret of the platform through a source.
	SecretSuffix = ".gitops"
	// MaxSources is the largest number of sources of one TenantGitOps.
	MaxSources = 20
	// MaxUnmanaged is how many objects written by hand the status lists.
	MaxUnmanaged = 50
)

// TenantGitOpsSpec lists the repositories that are applied to a tenant.
//
// +kubebuilder:validation:XValidation:rule="self.sources.all(s, !has(s.dependsOn) || s.dependsOn.all(d, d != s.name))",message="a source cannot depend on itself: remove its own name from dependsOn",fieldPath=".sources"
// +kubebuilder:validation:XValidation:rule="self.sources.all(s, !has(s.dependsOn) || s.dependsOn.all(d, self.sources.exists(o, o.name == d)))",message="dependsOn names a source that is not in this list: use the name of another entry of spec.sources",fieldPath=".sources"
type TenantGitOpsSpec struct {
	// Sources are the repositories to reconcile into this namespace, 1 to 20,
	// each with a name of its own.
	//
	//	sources:
	//	- name: apps
	//	  git:
	//	    url: https://git.example.org/acme/apps
	//	    ref: {branch: main}
	//	  path: ./production
	//
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	Sources []Source `json:"sources"`

	// Suspend stops the reconciliation of every source. What was applied stays
	// as it is; the tenant's controller keeps running.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
}

// TenantGitOpsStatus is what the platform knows of the tenant's repositories,
// so that a tenant who sees no Flux object reads here all that Flux says.
type TenantGitOpsStatus struct {
	// ObservedGeneration is the generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// LastHandledReconcileAt is the value of the annotation
	// reconcile.fluxcd.io/requestedAt that was acted upon last.
	meta.ReconcileRequestStatus `json:",inline"`

	// Conditions are Ready, Reconciling and Stalled, as kstatus reads them.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Shard is the value of the label sharding.fluxcd.io/key that binds this
	// tenant's Kustomizations to this tenant's controller: the namespace's name.
	// +optional
	Shard string `json:"shard,omitempty"`

	// Controller is this tenant's own kustomize-controller.
	// +optional
	Controller *ControllerStatus `json:"controller,omitempty"`

	// AppliedRevision says in one line which commit is applied: that of the one
	// source, or of each (name=revision) where they differ.
	// +optional
	AppliedRevision string `json:"appliedRevision,omitempty"`

	// Applications is the number of applications that all sources together manage.
	// +optional
	Applications int64 `json:"applications"`

	// Sources has an entry for each source of the spec, and for each removed one
	// that is still being taken down.
	// +optional
	// +listType=map
	// +listMapKey=name
	Sources []SourceStatus `json:"sources,omitempty"`

	// OwnersSettled is a digest of what the inventories held when Flux's owner labels
	// were last taken off the applications that no Kustomization has any more.
	// +optional
	OwnersSettled string `json:"ownersSettled,omitempty"`

	// Decryption shows the public half of the key that this namespace decrypts with.
	// +optional
	Decryption *DecryptionStatus `json:"decryption,omitempty"`

	// Unmanaged are the Kustomizations and sources of this namespace that somebody wrote
	// by hand, the first 50 of them by kind and name; of Kustomizations those with the
	// tenant's shard label. They do not count for Ready.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	Unmanaged []UnmanagedObject `json:"unmanaged,omitempty"`

	// UnmanagedCount is how many there are in all.
	// +optional
	UnmanagedCount int64 `json:"unmanagedCount,omitempty"`
}

// ControllerStatus describes the kustomize-controller of one tenant.
type ControllerStatus struct {
	// Deployment is the controller's Deployment, as namespace/name.
	// +optional
	Deployment string `json:"deployment,omitempty"`
	// Image is the image that the Deployment asks for.
	// +optional
	Image string `json:"image,omitempty"`
	// Ready says whether the controller is running and answers.
	Ready bool `json:"ready"`
	// Restarts counts how often the controller's container has been restarted.
	// +optional
	Restarts int32 `json:"restarts"`
	// LastTermination says why the container ended last (for example
	// "OOMKilled, exit code 137"), or why it cannot start.
	// +optional
	LastTermination string `json:"lastTermination,omitempty"`
}

// SourceStatus describes one source.
type SourceStatus struct {
	// Name of the source.
	Name string `json:"name"`
	// Ready is the state of the source as a whole: fetched, built and applied.
	// +kubebuilder:validation:Enum=True;False;Unknown
	Ready metav1.ConditionStatus `json:"ready"`
	// Reason is a word for the state, Flux's own where Flux gave one.
	// +optional
	Reason string `json:"reason,omitempty"`
	// Message is a sentence for the state, Flux's own where Flux gave one.
	// +optional
	Message string `json:"message,omitempty"`
	// Revision is what was fetched last, for example main@sha1:4c2f….
	// +optional
	Revision string `json:"revision,omitempty"`
	// AppliedRevision is what is applied.
	// +optional
	AppliedRevision string `json:"appliedRevision,omitempty"`
	// LastAppliedAt is when AppliedRevision was applied first. Repeated
	// reconciliations of the same revision do not move it.
	// +optional
	LastAppliedAt *metav1.Time `json:"lastAppliedAt,omitempty"`
	// ArtifactSize is the size in bytes of what was fetched.
	// +optional
	ArtifactSize int64 `json:"artifactSize,omitempty"`
	// Applications is the number of applications that this source manages.
	// +optional
	Applications int64 `json:"applications"`
	// Unready is how many of them are not ready: their release has failed, or is on its
	// way. They are counted also where the source does not wait for them.
	// +optional
	Unready int64 `json:"unready,omitempty"`
	// RemovalOff names applications that keep what leaves git, since what git applies to
	// them is too much to remember; the condition RemovalTracked says the mend.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	RemovalOff []string `json:"removalOff,omitempty"`
	// Prune is there from the time that deletions of a revision were held up until
	// the source is applied again.
	// +optional
	Prune *PruneStatus `json:"prune,omitempty"`
	// ConfirmedPrune is the value of confirmPrune that has done its work. To
	// confirm another prune of the same revision, remove it and set it again.
	// +optional
	ConfirmedPrune string `json:"confirmedPrune,omitempty"`
	// Conflicts are applications that another source has too, the first 20 of them. Who
	// applied it first keeps it, and neither source is ready until one lets go of it.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	Conflicts []ConflictStatus `json:"conflicts,omitempty"`
	// DeployKey is the public key, in authorized_keys form, to enter at the git
	// host as a read-only deploy key; only with git.deployKey: Generate.
	// +optional
	DeployKey string `json:"deployKey,omitempty"`
}

// ConflictStatus is an application that two sources have.
type ConflictStatus struct {
	// Application is the application, as kind/namespace/name.
	Application string `json:"application"`
	// With is the Kustomization of the other source, as namespace/name.
	With string `json:"with"`
}

// UnmanagedObject is a Flux object that the operator did not make.
type UnmanagedObject struct {
	// Kind is Kustomization, GitRepository or OCIRepository.
	Kind string `json:"kind"`
	// Name of the object.
	Name string `json:"name"`
	// Ready is what Flux says of it as it is now; Unknown while Flux has not said.
	// +kubebuilder:validation:Enum=True;False;Unknown
	Ready metav1.ConditionStatus `json:"ready"`
	// Reason and Message are Flux's own, or say why the operator holds a source.
	// +optional
	Reason string `json:"reason,omitempty"`
	// +optional
	Message string `json:"message,omitempty"`
	// Revision is what was fetched or applied last.
	// +optional
	Revision string `json:"revision,omitempty"`
	// Suspended says that Flux leaves it alone.
	// +optional
	Suspended bool `json:"suspended,omitempty"`
}

// PruneStatus says what a revision would delete.
type PruneStatus struct {
	// Revision is the revision that would delete.
	Revision string `json:"revision"`
	// Applications is how many applications it would delete; where there are too
	// many for Flux to name, at least so many.
	Applications int64 `json:"applications"`
	// Of is how many applications the source had before.
	Of int64 `json:"of"`
	// Names are the first of them, as kind/namespace/name.
	// +optional
	// +listType=atomic
	Names []string `json:"names,omitempty"`
}

// DecryptionStatus shows what to encrypt for.
type DecryptionStatus struct {
	// AgeRecipient is the public half of the generated age identity:
	// sops --encrypt --age <recipient>.
	// +optional
	AgeRecipient string `json:"ageRecipient,omitempty"`
}

// TenantGitOps switches GitOps on in a tenant's namespace: each of its sources
// is reconciled into that namespace by the tenant's own kustomize-controller, as
// a service account that can write applications and nothing else.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=tenantgitops,singular=tenantgitops,shortName=tgo,categories=gitops
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status"
// +kubebuilder:printcolumn:name="Revision",type="string",JSONPath=".status.appliedRevision"
// +kubebuilder:printcolumn:name="Apps",type="integer",JSONPath=".status.applications"
// +kubebuilder:printcolumn:name="Status",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].message"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:validation:XValidation:rule="self.metadata.name == 'gitops'",message="a tenant has one TenantGitOps, and its name is gitops: set metadata.name to gitops and list every repository under spec.sources"
type TenantGitOps struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +required
	Spec TenantGitOpsSpec `json:"spec"`
	// +optional
	Status TenantGitOpsStatus `json:"status,omitempty"`
}

// GetConditions returns the status conditions, for fluxcd/pkg/runtime.
func (t *TenantGitOps) GetConditions() []metav1.Condition { return t.Status.Conditions }

// SetConditions replaces the status conditions, for fluxcd/pkg/runtime.
func (t *TenantGitOps) SetConditions(conditions []metav1.Condition) { t.Status.Conditions = conditions }

// TenantGitOpsList is a list of TenantGitOps.
//
// +kubebuilder:object:root=true
type TenantGitOpsList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []TenantGitOps `json:"items"`
}
