package stamp

import (
	"maps"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/healthcheck"
	"github.com/cozystack/gitops-operator/internal/names"
	"github.com/cozystack/gitops-operator/internal/oversize"
	"github.com/cozystack/gitops-operator/templates"
)

// sources adds the Flux objects of every source.
func (b builder) sources(stack *Stack) error {
	for _, source := range b.in.Stamped {
		variables := b.variables()
		variables["source"] = source.Name
		variables["fluxObject"] = names.FluxObject(source.Name)

		fetched, kind, err := b.fetched(source, variables)
		if err != nil {
			return err
		}
		kustomization, err := b.kustomization(source, kind, variables)
		if err != nil {
			return err
		}
		requested := b.in.Requested[source.Name]
		annotate(fetched, RequestedAnnotation, requested.Source)
		annotate(kustomization, RequestedAnnotation, requested.Kustomization)
		b.holdOversized(source, fetched, kustomization)
		annotate(kustomization, PruneGrantedAnnotation, b.in.PruneGranted[source.Name])
		stack.Sources = append(stack.Sources, fetched)
		stack.Kustomizations = append(stack.Kustomizations, kustomization)
	}
	return nil
}

func annotate(obj client.Object, key, value string) {
	if value == "" {
		return
	}
	annotations := map[string]string{key: value}
	maps.Copy(annotations, obj.GetAnnotations())
	obj.SetAnnotations(annotations)
}

func (b builder) fetched(source gitopsv1.Source, variables templates.Variables) (client.Object, string, error) {
	suspend := b.in.Tenant.Spec.Suspend || source.Suspend
	if source.OCI != nil {
		repository, err := templates.Decode[sourcev1.OCIRepository]("tenant/ocirepository.yaml", variables)
		if err != nil {
			return nil, "", err
		}
		repository.Spec = OCIRepositorySpec(source.OCI)
		repository.Spec.Suspend = suspend
		return repository, sourcev1.OCIRepositoryKind, nil
	}
	repository, err := templates.Decode[sourcev1.GitRepository]("tenant/gitrepository.yaml", variables)
	if err != nil {
		return nil, "", err
	}
	repository.Spec = GitRepositorySpec(source.Name, source.Git)
	repository.Spec.Suspend = suspend
	return repository, sourcev1.GitRepositoryKind, nil
}

// holdOversized suspends a source that may not fetch, and what would apply it: what is too
// large to be fetched is too large to be built again and again. Where the tenant has not
// suspended the Kustomization, an annotation tells so, since Flux deletes nothing of one
// that is suspended, and the source may come to be removed with all its applications.
func (b builder) holdOversized(source gitopsv1.Source, fetched client.Object, kustomization *kustomizev1.Kustomization) {
	held := b.in.Held[source.Name]
	if held == "" {
		return
	}
	annotate(fetched, oversize.HeldAnnotation, held)
	switch repository := fetched.(type) {
	case *sourcev1.GitRepository:
		repository.Spec.Suspend = true
	case *sourcev1.OCIRepository:
		repository.Spec.Suspend = true
	}
	if !kustomization.Spec.Suspend {
		kustomization.Spec.Suspend = true
		annotate(kustomization, oversize.HeldAnnotation, held)
	}
}

// Content is the digest of what decides what a source fetches, as it is to be stamped.
func Content(source gitopsv1.Source) string {
	if source.OCI != nil {
		return oversize.OCIContent(OCIRepositorySpec(source.OCI))
	}
	return oversize.GitContent(GitRepositorySpec(source.Name, source.Git))
}

// GitRepositorySpec is what is stamped for a git repository; source names the one that a
// generated deploy key is for.
func GitRepositorySpec(source string, git *gitopsv1.GitSource) sourcev1.GitRepositorySpec {
	spec := sourcev1.GitRepositorySpec{
		URL:               git.URL,
		SecretRef:         git.SecretRef,
		Interval:          git.Interval,
		Timeout:           git.Timeout,
		Reference:         git.Ref,
		Verification:      git.Verify,
		Ignore:            git.Ignore,
		RecurseSubmodules: git.RecurseSubmodules,
		SparseCheckout:    git.SparseCheckout,
	}
	if git.DeployKey == gitopsv1.GenerateKey {
		spec.SecretRef = &meta.LocalObjectReference{Name: names.DeployKeySecret(source)}
	}
	return spec
}

// OCIRepositorySpec is what is stamped for an OCI artifact.
func OCIRepositorySpec(oci *gitopsv1.OCISource) sourcev1.OCIRepositorySpec {
	return sourcev1.OCIRepositorySpec{
		URL:           oci.URL,
		Reference:     oci.Ref,
		LayerSelector: oci.LayerSelector,
		SecretRef:     oci.SecretRef,
		CertSecretRef: oci.CertSecretRef,
		Interval:      oci.Interval,
		Timeout:       oci.Timeout,
		Ignore:        oci.Ignore,
	}
}

func (b builder) kustomization(source gitopsv1.Source, sourceKind string, variables templates.Variables) (*kustomizev1.Kustomization, error) {
	kustomization, err := templates.Decode[kustomizev1.Kustomization]("tenant/kustomization.yaml", variables)
	if err != nil {
		return nil, err
	}
	spec := &kustomization.Spec
	spec.SourceRef.Kind = sourceKind
	spec.TargetNamespace = TargetNamespace(b.tenant, source)
	spec.Path = source.Path
	spec.Interval = source.Interval
	spec.RetryInterval = source.RetryInterval
	spec.Timeout = source.Timeout
	spec.Prune = source.Prune == nil || *source.Prune
	spec.DeletionPolicy = DeletionPolicy(source)
	spec.Wait = source.Wait
	spec.HealthChecks = source.HealthChecks
	spec.HealthCheckExprs = healthcheck.Expressions(b.in.HealthKinds, source.HealthCheckExprs)
	spec.Patches = source.Patches
	spec.Components = source.Components
	spec.CommonMetadata = source.CommonMetadata
	spec.Suspend = b.in.Tenant.Spec.Suspend || source.Suspend
	for _, name := range source.DependsOn {
		if b.in.NotAwaited[name] {
			continue
		}
		spec.DependsOn = append(spec.DependsOn, kustomizev1.DependencyReference{Name: names.FluxObject(name)})
	}
	if source.PostBuild != nil {
		spec.PostBuild = &kustomizev1.PostBuild{
			Substitute:     source.PostBuild.Substitute,
			SubstituteFrom: source.PostBuild.SubstituteFrom,
		}
	}
	if source.Decryption != nil {
		spec.Decryption = &kustomizev1.Decryption{Provider: "sops", SecretRef: source.Decryption.SecretRef}
		if source.Decryption.AgeKey == gitopsv1.GenerateKey {
			spec.Decryption.SecretRef = &meta.LocalObjectReference{Name: names.AgeSecret}
		}
	}
	return kustomization, nil
}

// TargetNamespace is where a source's applications go.
func TargetNamespace(tenant string, source gitopsv1.Source) string {
	if source.TargetNamespace == "" {
		return tenant
	}
	return source.TargetNamespace
}

// DeletionPolicy of a source: Orphan unless the tenant chose otherwise.
func DeletionPolicy(source gitopsv1.Source) string {
	if source.DeletionPolicy == "" {
		return kustomizev1.DeletionPolicyOrphan
	}
	return source.DeletionPolicy
}
