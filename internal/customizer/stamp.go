package customizer

import (
	"fmt"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/stamp"
	"github.com/cozystack/gitops-operator/templates"
)

// The ClusterRoles of config/customizer, which the operator may bind by these names.
const (
	CuratedRole        = "gitops-customizer-curated"
	OverridesOnlyRole  = "gitops-customizer-overrides-only"
	OwnedNamespaceRole = "gitops-customizer-owned-namespace"
	// ClusterAdminRole is Kubernetes' own.
	ClusterAdminRole = "cluster-admin"
)

// BootstrapPackage is the one that is made by hand, and that makes all others.
const BootstrapPackage = "cozystack.cozystack-platform"

// Stack is all that is stamped for a Customizer, in the order in which it is put up.
type Stack struct {
	// Namespaces are made if they are not there, and else left as they are.
	Namespaces []*corev1.Namespace
	// Access are the account and its bindings.
	Access []client.Object
	// Extra are the ClusterRole of the extra rules and its binding, if there are any.
	Extra []client.Object
	// Fetched is the GitRepository or OCIRepository.
	Fetched client.Object
	// Kustomization is last: nothing may be applied before all else stands.
	Kustomization *kustomizev1.Kustomization
}

// ProfileRole is the ClusterRole of a profile.
func ProfileRole(profile gitopsv1.CustomizerProfile) string {
	switch profile {
	case gitopsv1.ProfileClusterAdmin:
		return ClusterAdminRole
	case gitopsv1.ProfileOverridesOnly:
		return OverridesOnlyRole
	default:
		return CuratedRole
	}
}

// Stamp computes the stack of a Customizer whose account is decided.
func Stamp(c *gitopsv1.Customizer, account string) (*Stack, error) {
	// A copy, so that whoever changes what is stamped does not change the spec.
	b := builder{c: c.DeepCopy(), variables: templates.Variables{
		"customizer":  c.Name,
		"account":     account,
		"extraRole":   ExtraRole(account),
		"profileRole": ProfileRole(c.Spec.RBAC.Profile),
		"namespace":   gitopsv1.CustomizerNamespace,
	}}
	stack := &Stack{}
	for _, step := range []func(*Stack) error{b.access, b.ownedNamespaces, b.extraRules, b.fetched, b.kustomization} {
		if err := step(stack); err != nil {
			return nil, err
		}
	}
	return stack, nil
}

type builder struct {
	c         *gitopsv1.Customizer
	variables templates.Variables
}

func (b builder) access(stack *Stack) error {
	account, err := templates.Decode[corev1.ServiceAccount]("customizer/serviceaccount.yaml", b.variables)
	if err != nil {
		return err
	}
	profile, err := templates.Decode[rbacv1.ClusterRoleBinding]("customizer/profile-clusterrolebinding.yaml", b.variables)
	if err != nil {
		return err
	}
	stack.Access = append(stack.Access, account, profile)
	return nil
}

// ownedNamespaces adds the namespaces, and what the account may do there. One that may do
// everything needs no binding.
func (b builder) ownedNamespaces(stack *Stack) error {
	for _, owned := range b.c.Spec.RBAC.OwnedNamespaces {
		variables := templates.Variables{"owned": owned}
		for name, value := range b.variables {
			variables[name] = value
		}
		namespace, err := templates.Decode[corev1.Namespace]("customizer/owned-namespace.yaml", variables)
		if err != nil {
			return err
		}
		stack.Namespaces = append(stack.Namespaces, namespace)
		if b.c.Spec.RBAC.Profile == gitopsv1.ProfileClusterAdmin {
			continue
		}
		binding, err := templates.Decode[rbacv1.RoleBinding]("customizer/owned-rolebinding.yaml", variables)
		if err != nil {
			return err
		}
		stack.Access = append(stack.Access, binding)
	}
	return nil
}

func (b builder) extraRules(stack *Stack) error {
	if len(b.c.Spec.RBAC.ExtraRules) == 0 {
		return nil
	}
	role, err := templates.Decode[rbacv1.ClusterRole]("customizer/extra-clusterrole.yaml", b.variables)
	if err != nil {
		return err
	}
	for _, rule := range b.c.Spec.RBAC.ExtraRules {
		role.Rules = append(role.Rules, rule.PolicyRule())
	}
	binding, err := templates.Decode[rbacv1.ClusterRoleBinding]("customizer/extra-clusterrolebinding.yaml", b.variables)
	if err != nil {
		return err
	}
	stack.Extra = []client.Object{role, binding}
	return nil
}

func (b builder) fetched(stack *Stack) error {
	if oci := b.c.Spec.Source.OCI; oci != nil {
		repository, err := templates.Decode[sourcev1.OCIRepository]("customizer/ocirepository.yaml", b.variables)
		if err != nil {
			return err
		}
		repository.Spec = stamp.OCIRepositorySpec(oci)
		repository.Spec.Suspend = b.c.Spec.Suspend
		stack.Fetched = repository
		return nil
	}
	if b.c.Spec.Source.Git == nil {
		return fmt.Errorf("cannot stamp Customizer %s: it has neither spec.source.git nor spec.source.oci", b.c.Name)
	}
	repository, err := templates.Decode[sourcev1.GitRepository]("customizer/gitrepository.yaml", b.variables)
	if err != nil {
		return err
	}
	repository.Spec = stamp.GitRepositorySpec("", b.c.Spec.Source.Git)
	repository.Spec.Suspend = b.c.Spec.Suspend
	stack.Fetched = repository
	return nil
}

func (b builder) kustomization(stack *Stack) error {
	kustomization, err := templates.Decode[kustomizev1.Kustomization]("customizer/kustomization.yaml", b.variables)
	if err != nil {
		return err
	}
	keep, err := templates.Decode[kustomize.Patch]("customizer/keep-packages-patch.yaml", b.variables)
	if err != nil {
		return err
	}
	if b.c.Spec.RBAC.Profile == gitopsv1.ProfileClusterAdmin {
		// A name in a target is a regular expression.
		keep.Target.Name = `cozystack\.cozystack-platform`
	}
	from := b.c.Spec.Kustomization
	spec := &kustomization.Spec
	spec.Patches = append(spec.Patches, *keep)
	spec.SourceRef.Kind = sourcev1.GitRepositoryKind
	if b.c.Spec.Source.OCI != nil {
		spec.SourceRef.Kind = sourcev1.OCIRepositoryKind
	}
	spec.Path = from.Path
	spec.Interval = from.Interval
	spec.RetryInterval = from.RetryInterval
	spec.Timeout = from.Timeout
	spec.Prune = from.Prune == nil || *from.Prune
	spec.DeletionPolicy = from.DeletionPolicy
	if spec.DeletionPolicy == "" {
		spec.DeletionPolicy = kustomizev1.DeletionPolicyOrphan
	}
	spec.Wait = from.Wait
	spec.HealthChecks = healthChecks(from)
	spec.Suspend = b.c.Spec.Suspend
	if from.PostBuild != nil {
		spec.PostBuild = &kustomizev1.PostBuild{Substitute: from.PostBuild.Substitute, SubstituteFrom: from.PostBuild.SubstituteFrom}
	}
	if from.Decryption != nil {
		spec.Decryption = &kustomizev1.Decryption{Provider: "sops", SecretRef: from.Decryption.SecretRef}
	}
	stack.Kustomization = kustomization
	return nil
}

// healthChecks are those of the spec; where it says nothing, the bootstrap Package.
func healthChecks(from gitopsv1.CustomizerKustomization) []meta.NamespacedObjectKindReference {
	switch {
	case from.Wait:
		return nil
	case from.HealthChecks != nil:
		return *from.HealthChecks
	default:
		return []meta.NamespacedObjectKindReference{{APIVersion: "cozystack.io/v1alpha1", Kind: "Package", Name: BootstrapPackage}}
	}
}
