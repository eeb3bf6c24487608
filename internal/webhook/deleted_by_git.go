package webhook

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	verdict "github.com/cozystack/gitops-operator/internal/admission"
	"github.com/cozystack/gitops-operator/internal/ownership"
	"github.com/cozystack/gitops-operator/internal/pruneguard"
	"github.com/cozystack/gitops-operator/internal/tenancy"
)

// deletedByGit answers for the deletion of an application by the git account of the
// Kustomization that applied it: what is no longer in the repository goes, as far as no
// other source has it now, and as the prune guard lets it. All is read from the API
// server: a cache could still have the revision before, and what was granted for that.
func (a *applications) deletedByGit(ctx context.Context, request admission.Request, edit verdict.Edit) admission.Response {
	key, _ := edit.Owner()
	owner := &kustomizev1.Kustomization{}
	switch err := a.uncached.Get(ctx, key, owner); {
	case apierrors.IsNotFound(err):
		return admission.Allowed("")
	case err != nil:
		return admission.Errored(http.StatusInternalServerError, fmt.Errorf("cannot read Kustomization %s: %w", key, err))
	}
	application := pruneguard.Application{
		Namespace: edit.Old.GetNamespace(), Name: edit.Old.GetName(), Kind: request.Kind.Kind,
	}
	if ownership.IsLive(owner) {
		waits, err := a.waitsFor(ctx, owner, application)
		if err != nil {
			return admission.Errored(http.StatusInternalServerError, err)
		}
		if waits != "" {
			return admission.Denied(pruneguard.Waiting(owner, waits))
		}
	}
	if refusal := pruneguard.Refusal(owner, application); refusal != "" {
		return admission.Denied(refusal)
	}
	return admission.Allowed("")
}

// waitsFor says what the deletion of an application has to wait for: another Kustomization
// that may have it by now, in this tenant or in one above the application's namespace.
func (a *applications) waitsFor(ctx context.Context, owner *kustomizev1.Kustomization, application pruneguard.Application) (string, error) {
	namespace, err := readNamespace(ctx, a.uncached, application.Namespace)
	if err != nil {
		return "", err
	}
	if !namespace.DeletionTimestamp.IsZero() {
		return "", nil
	}
	var siblings []ownership.Sibling
	var artifact *meta.Artifact
	for _, above := range a.tenancy.From(tenancy.Namespace{Name: namespace.Name, Labels: namespace.Labels}) {
		found, own, err := a.siblings(ctx, above, owner, application.Namespace)
		if err != nil {
			return "", err
		}
		siblings = append(siblings, found...)
		if own != nil {
			artifact = own
		}
	}
	if objections := ownership.Objections(application, owner, artifact, siblings); len(objections) > 0 {
		return objections[0].String(), nil
	}
	return a.stampedSince(ctx, owner, siblings)
}

// siblings are the Kustomizations of a tenant, beside the owner, that could want something
// in a namespace; and the artifact of the owner, where it is one of that tenant's.
func (a *applications) siblings(ctx context.Context, tenant string, owner *kustomizev1.Kustomization, target string) ([]ownership.Sibling, *meta.Artifact, error) {
	var kustomizations kustomizev1.KustomizationList
	if err := a.uncached.List(ctx, &kustomizations, client.InNamespace(tenant)); err != nil {
		return nil, nil, fmt.Errorf("cannot list the Kustomizations of %s: %w", tenant, err)
	}
	others := slices.DeleteFunc(ownership.Wanting(kustomizations.Items, target), func(k *kustomizev1.Kustomization) bool {
		return k.UID == owner.UID
	})
	if len(others) == 0 && tenant != owner.Namespace {
		return nil, nil, nil
	}
	var git sourcev1.GitRepositoryList
	if err := a.uncached.List(ctx, &git, client.InNamespace(tenant)); err != nil {
		return nil, nil, fmt.Errorf("cannot list the GitRepositories of %s: %w", tenant, err)
	}
	var oci sourcev1.OCIRepositoryList
	if err := a.uncached.List(ctx, &oci, client.InNamespace(tenant)); err != nil {
		return nil, nil, fmt.Errorf("cannot list the OCIRepositories of %s: %w", tenant, err)
	}
	fetched := ownership.FetchedBy(git.Items, oci.Items)
	var siblings []ownership.Sibling
	for _, k := range others {
		siblings = append(siblings, ownership.Sibling{Kustomization: k, Fetched: fetched.Of(k)})
	}
	if own := fetched.Of(owner); own != nil && tenant == owner.Namespace {
		return siblings, own.Artifact, nil
	}
	return siblings, nil, nil
}

// stampedSince waits for the operator to have carried out the spec from which the owner
// was stamped, where there are siblings or may be: the same change may give what the one
// source drops to another.
func (a *applications) stampedSince(ctx context.Context, owner *kustomizev1.Kustomization, siblings []ownership.Sibling) (string, error) {
	tenants := map[string]bool{owner.Namespace: true}
	for _, sibling := range siblings {
		tenants[sibling.Kustomization.Namespace] = true
	}
	for tenant := range tenants {
		gitops := &gitopsv1.TenantGitOps{}
		err := a.uncached.Get(ctx, types.NamespacedName{Namespace: tenant, Name: gitopsv1.TenantGitOpsName}, gitops)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("cannot read the TenantGitOps of %s: %w", tenant, err)
		}
		if len(gitops.Spec.Sources)+len(siblings) > 1 && gitops.DeletionTimestamp.IsZero() &&
			gitops.Status.ObservedGeneration < gitops.Generation {
			return "the TenantGitOps of " + tenant + " to be carried out", nil
		}
	}
	return "", nil
}
