package v1alpha1

import (
	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Generate asks the operator to make a key pair, keep its private half in a
// Secret of its own and show the public half in the status.
//
// +kubebuilder:validation:Enum=Generate
type Generate string

// GenerateKey is the only value of Generate.
const GenerateKey Generate = "Generate"

// Source is one repository and how to apply it. Fields that Flux has are
// called, and behave, as Flux's own.
//
// +kubebuilder:validation:XValidation:rule="!has(self.wait) || !self.wait || !has(self.healthChecks) || self.healthChecks.size() == 0",message="wait looks at everything that is applied, and Flux takes no notice of healthChecks beside it: remove wait, or remove healthChecks"
// +kubebuilder:validation:XValidation:rule="has(self.git) != has(self.oci)",message="a source is either a git repository or an OCI artifact: set exactly one of git and oci"
type Source struct {
	// Name of the source, unique among the sources of this TenantGitOps. The
	// Flux objects made for it are called gitops-<name>.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="a source's name is lower-case letters, digits and dashes, and starts and ends with a letter or digit"
	Name string `json:"name"`

	// Git is a git repository over HTTPS or SSH.
	// +optional
	Git *GitSource `json:"git,omitempty"`

	// OCI is an artifact in an OCI registry.
	// +optional
	OCI *OCISource `json:"oci,omitempty"`

	// Path of the directory to apply, relative to the root of the repository:
	// one with a kustomization.yaml, or with plain manifests.
	// +optional
	// +kubebuilder:default="./"
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule="!self.split('/').exists(p, p == '..')",message="path must stay inside the repository: remove the '..' parts"
	Path string `json:"path,omitempty"`

	// TargetNamespace is where the applications go: this tenant's own namespace
	// (the default), or that of a tenant below it.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	TargetNamespace string `json:"targetNamespace,omitempty"`

	// Interval at which what is applied is compared with the repository and
	// put right, 30s to 24h.
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

	// Prune deletes applications whose manifest is removed from the repository.
	// +optional
	// +kubebuilder:default=true
	Prune *bool `json:"prune,omitempty"`

	// ConfirmPrune names the revision that may delete more than half of this
	// source's applications, for example main@sha1:4c2f…. Until it is set to the
	// revision that the status asks about, none of them is deleted. It counts
	// once, and can stay: of another revision it says nothing.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	ConfirmPrune string `json:"confirmPrune,omitempty"`

	// DeletionPolicy says what becomes of the applications when this source, or
	// the TenantGitOps, is removed. Orphan (the default) leaves them running.
	// +optional
	// +kubebuilder:default=Orphan
	// +kubebuilder:validation:Enum=Orphan;Delete;WaitForTermination;MirrorPrune
	DeletionPolicy string `json:"deletionPolicy,omitempty"`

	// Wait makes the source ready only when all that it applied is healthy.
	// +optional
	Wait bool `json:"wait,omitempty"`

	// HealthChecks lists the objects whose health makes the source ready, where
	// Wait is off: applications, and the HelmReleases behind them.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:XValidation:rule="self.all(h, has(h.apiVersion) && (h.apiVersion.startsWith('apps.cozystack.io/') || h.apiVersion.startsWith('helm.toolkit.fluxcd.io/')))",message="healthChecks can look at applications (apiVersion apps.cozystack.io/v1alpha1) and HelmReleases (helm.toolkit.fluxcd.io/v2) only: remove the others"
	HealthChecks []meta.NamespacedObjectKindReference `json:"healthChecks,omitempty"`

	// HealthCheckExprs says, in CEL, when an object of a kind is healthy.
	// +optional
	// +kubebuilder:validation:MaxItems=50
	HealthCheckExprs []kustomize.CustomHealthCheck `json:"healthCheckExprs,omitempty"`

	// DependsOn names sources of this TenantGitOps that must be ready first.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=19
	// +kubebuilder:validation:items:MaxLength=40
	DependsOn []string `json:"dependsOn,omitempty"`

	// PostBuild substitutes ${variables} in the built manifests.
	// +optional
	PostBuild *PostBuild `json:"postBuild,omitempty"`

	// Decryption of files encrypted with SOPS.
	// +optional
	Decryption *Decryption `json:"decryption,omitempty"`

	// Patches are applied to the built manifests.
	// +optional
	// +kubebuilder:validation:MaxItems=100
	Patches []kustomize.Patch `json:"patches,omitempty"`

	// Components are paths of kustomize components, relative to Path.
	// +optional
	// +kubebuilder:validation:MaxItems=50
	Components []string `json:"components,omitempty"`

	// CommonMetadata sets labels and annotations on everything that is applied.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.labels) || ['kustomize.toolkit.fluxcd.io/name', 'kustomize.toolkit.fluxcd.io/namespace', 'sharding.fluxcd.io/key'].all(l, !(l in self.labels))",message="commonMetadata must not set labels that Flux goes by (kustomize.toolkit.fluxcd.io/..., sharding.fluxcd.io/key): remove them"
	CommonMetadata *kustomizev1.CommonMetadata `json:"commonMetadata,omitempty"`

	// Suspend stops the fetching and applying of this source.
	// +optional
	Suspend bool `json:"suspend,omitempty"`
}

// GitSource is a git repository.
//
// +kubebuilder:validation:XValidation:rule="!has(self.secretRef) || self.secretRef.name.endsWith('.gitops')",message="the Secret of a source must be called <something>.gitops: rename it, and name it so here",fieldPath=".secretRef"
// +kubebuilder:validation:XValidation:rule="!has(self.verify) || self.verify.secretRef.name.endsWith('.gitops')",message="the Secret with the verification keys must be called <something>.gitops: rename it, and name it so here",fieldPath=".verify"
// +kubebuilder:validation:XValidation:rule="!has(self.deployKey) || !has(self.secretRef)",message="deployKey: Generate makes the Secret itself: remove secretRef, or remove deployKey"
// +kubebuilder:validation:XValidation:rule="!has(self.deployKey) || self.url.startsWith('ssh://')",message="a deploy key needs an ssh:// url: use ssh://git@host/path, or name a Secret in secretRef for https"
// +kubebuilder:validation:XValidation:rule="!has(self.deployKey) || has(self.knownHosts)",message="deployKey needs knownHosts, or the host cannot be trusted: paste the output of 'ssh-keyscan HOST' after checking it"
// +kubebuilder:validation:XValidation:rule="!has(self.knownHosts) || has(self.deployKey)",message="knownHosts goes with deployKey: Generate; with secretRef put known_hosts into that Secret"
// +kubebuilder:validation:XValidation:rule="!self.url.startsWith('ssh://') || has(self.secretRef) || has(self.deployKey)",message="an ssh:// url needs a key: set deployKey: Generate, or name a Secret with identity and known_hosts in secretRef"
type GitSource struct {
	// URL of the repository: https://host/path or ssh://user@host/path.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^(https|ssh)://[^/?#]')",message="url must start with https:// or ssh:// and a host (write git@host:path as ssh://git@host/path; plain http is not accepted)"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^https://[^/]*@')",message="url must not hold credentials: put username and password into a Secret called <something>.gitops and name it in secretRef"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^ssh://[^/]*:[^/]*@')",message="an ssh url must not hold a password: use a key, with deployKey: Generate or a Secret in secretRef"
	// +kubebuilder:validation:XValidation:rule="self.matches('^[!-~]+$')",message="url holds a blank or another character that urls cannot hold: write it percent-encoded"
	URL string `json:"url"`

	// Ref is what to check out; without it, the branch master, as in Flux.
	// +optional
	// +kubebuilder:validation:XValidation:rule="[has(self.branch), has(self.tag), has(self.semver), has(self.name)].filter(x, x).size() <= 1",message="ref names more than one of branch, tag, semver and name: keep one"
	// +kubebuilder:validation:XValidation:rule="!has(self.commit) || size(self.commit) in [40, 64]",message="ref.commit must be the whole hash of a commit, 40 hexadecimal digits (git rev-parse HEAD)"
	// +kubebuilder:validation:XValidation:rule="!has(self.commit) || !(has(self.tag) || has(self.semver) || has(self.name))",message="ref.commit goes alone or with branch: Flux would take no notice of tag, semver or name"
	Ref *sourcev1.GitRepositoryRef `json:"ref,omitempty"`

	// SecretRef names the Secret, called <something>.gitops, with username and
	// password (or bearerToken, and ca.crt) for https, or with identity and
	// known_hosts for ssh.
	// +optional
	SecretRef *meta.LocalObjectReference `json:"secretRef,omitempty"`

	// DeployKey: Generate makes an ed25519 key pair. The public half appears in
	// status.sources[].deployKey; enter it at the git host. Delete the Secret
	// deploykey-<source>.gitops to have a new one made.
	// +optional
	DeployKey Generate `json:"deployKey,omitempty"`

	// KnownHosts are the lines of known_hosts for the git host.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=16384
	KnownHosts string `json:"knownHosts,omitempty"`

	// Interval at which the repository is asked for news, 30s to 24h.
	// +optional
	// +kubebuilder:default="1m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern="^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('30s') && duration(self) <= duration('24h')",message="interval must be between 30s and 24h"
	Interval metav1.Duration `json:"interval,omitzero"`

	// Timeout of one clone, 1s to 5m.
	// +optional
	// +kubebuilder:default="60s"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern="^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('5m')",message="timeout must be between 1s and 5m"
	Timeout *metav1.Duration `json:"timeout,omitempty"`

	// Verify the signature of the commit or tag against the public keys in a
	// Secret called <something>.gitops.
	// +optional
	Verify *sourcev1.GitRepositoryVerification `json:"verify,omitempty"`

	// Ignore leaves paths out of the artifact, in .gitignore form.
	// +optional
	// +kubebuilder:validation:MaxLength=16384
	Ignore *string `json:"ignore,omitempty"`

	// RecurseSubmodules clones submodules too. The credentials of this
	// repository are sent to whatever host a submodule names. Over https the
	// host's certificate must be one that is trusted everywhere: Flux does not
	// use ca.crt of the Secret for submodules.
	// +optional
	RecurseSubmodules bool `json:"recurseSubmodules,omitempty"`

	// SparseCheckout limits the checkout to these directories.
	// +optional
	// +kubebuilder:validation:MaxItems=50
	SparseCheckout []string `json:"sparseCheckout,omitempty"`
}

// OCISource is an artifact in an OCI registry.
//
// +kubebuilder:validation:XValidation:rule="!has(self.secretRef) || self.secretRef.name.endsWith('.gitops')",message="the Secret of a source must be called <something>.gitops: rename it, and name it so here",fieldPath=".secretRef"
// +kubebuilder:validation:XValidation:rule="!has(self.certSecretRef) || self.certSecretRef.name.endsWith('.gitops')",message="the Secret with the certificates must be called <something>.gitops: rename it, and name it so here",fieldPath=".certSecretRef"
type OCISource struct {
	// URL of the artifact without a tag: oci://host/path.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +kubebuilder:validation:XValidation:rule="self.matches('^oci://[!-?A-~]+$')",message="url must start with oci:// and hold neither credentials nor a digest: put the digest into ref.digest"
	// +kubebuilder:validation:XValidation:rule="!self.matches('/[^/]*:[^/]*$') || self.matches('^oci://[^/]*$')",message="url must not hold a tag: put it into ref.tag"
	URL string `json:"url"`

	// Ref is the tag, semver range or digest to pull; latest without it.
	// +optional
	// +kubebuilder:validation:XValidation:rule="[has(self.tag), has(self.semver), has(self.digest)].filter(x, x).size() <= 1",message="ref names more than one of tag, semver and digest: keep one"
	// +kubebuilder:validation:XValidation:rule="!has(self.semverFilter) || has(self.semver)",message="semverFilter goes with semver: set semver, or remove semverFilter"
	Ref *sourcev1.OCIRepositoryRef `json:"ref,omitempty"`

	// LayerSelector says which layer to take and how; the first one, extracted,
	// without it.
	// +optional
	LayerSelector *sourcev1.OCILayerSelector `json:"layerSelector,omitempty"`

	// SecretRef names the Secret of type kubernetes.io/dockerconfigjson, called
	// <something>.gitops, to log in with.
	// +optional
	SecretRef *meta.LocalObjectReference `json:"secretRef,omitempty"`

	// CertSecretRef names the Secret, called <something>.gitops, with ca.crt of
	// the registry, and tls.crt and tls.key of the client.
	// +optional
	CertSecretRef *meta.LocalObjectReference `json:"certSecretRef,omitempty"`

	// Interval at which the registry is asked for news, 30s to 24h.
	// +optional
	// +kubebuilder:default="1m"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern="^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('30s') && duration(self) <= duration('24h')",message="interval must be between 30s and 24h"
	Interval metav1.Duration `json:"interval,omitzero"`

	// Timeout of one pull, 1s to 5m.
	// +optional
	// +kubebuilder:default="60s"
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern="^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1s') && duration(self) <= duration('5m')",message="timeout must be between 1s and 5m"
	Timeout *metav1.Duration `json:"timeout,omitempty"`

	// Ignore leaves paths out of the artifact, in .gitignore form.
	// +optional
	// +kubebuilder:validation:MaxLength=16384
	Ignore *string `json:"ignore,omitempty"`
}

// PostBuild substitutes variables after the build, as Flux does.
//
// +kubebuilder:validation:XValidation:rule="!has(self.substituteFrom) || self.substituteFrom.all(r, r.kind != 'Secret' || r.name.endsWith('.gitops'))",message="a Secret to substitute from must be called <something>.gitops: rename it, and name it so here",fieldPath=".substituteFrom"
type PostBuild struct {
	// Substitute maps variables to values.
	// +optional
	// +kubebuilder:validation:MaxProperties=200
	Substitute map[string]string `json:"substitute,omitempty"`

	// SubstituteFrom names ConfigMaps, and Secrets called <something>.gitops,
	// whose keys are variables.
	// +optional
	// +kubebuilder:validation:MaxItems=20
	SubstituteFrom []kustomizev1.SubstituteReference `json:"substituteFrom,omitempty"`
}

// Decryption says which key decrypts files encrypted with SOPS.
//
// +kubebuilder:validation:XValidation:rule="has(self.secretRef) != has(self.ageKey)",message="decryption needs one key: set either secretRef, or ageKey: Generate"
// +kubebuilder:validation:XValidation:rule="!has(self.secretRef) || self.secretRef.name.endsWith('.gitops')",message="the Secret with the keys must be called <something>.gitops: rename it, and name it so here",fieldPath=".secretRef"
type Decryption struct {
	// Provider of the encryption: sops.
	// +optional
	// +kubebuilder:default=sops
	// +kubebuilder:validation:Enum=sops
	Provider string `json:"provider,omitempty"`

	// SecretRef names the Secret, called <something>.gitops, with the private
	// keys, in keys that end in .agekey or .asc.
	// +optional
	SecretRef *meta.LocalObjectReference `json:"secretRef,omitempty"`

	// AgeKey: Generate makes one age identity for this namespace and shows its
	// recipient in status.decryption.ageRecipient.
	// +optional
	AgeKey Generate `json:"ageKey,omitempty"`
}
