package webhook

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/tenancy"
)

// facts reads what more than one webhook decides by.
type facts struct {
	cached, uncached client.Reader
	tenancy          tenancy.Model
}

// parameters are the admin's, or the defaults of their schema where there are none.
func (f facts) parameters(ctx context.Context) (gitopsv1.GitOpsParametersSpec, error) {
	parameters := &gitopsv1.GitOpsParameters{}
	err := f.cached.Get(ctx, client.ObjectKey{Name: gitopsv1.GitOpsParametersName}, parameters)
	if apierrors.IsNotFound(err) {
		return gitopsv1.GitOpsParametersSpec{
			AdminGroups: gitopsv1.DefaultAdminGroups(),
			MaxSources:  gitopsv1.DefaultMaxSources,
		}, nil
	}
	if err != nil {
		return parameters.Spec, fmt.Errorf("cannot read the GitOpsParameters: %w", err)
	}
	return parameters.Spec, nil
}

// isTenant says whether a namespace is a tenant's. Labels are read where they decide.
func (f facts) isTenant(ctx context.Context, namespace string) (bool, error) {
	if f.tenancy.Selector == nil {
		return f.tenancy.IsTenant(tenancy.Namespace{Name: namespace}), nil
	}
	live, err := readNamespace(ctx, f.cached, namespace)
	if apierrors.IsNotFound(err) {
		// It may be younger than the cache knows.
		live, err = readNamespace(ctx, f.uncached, namespace)
	}
	if err != nil {
		return false, err
	}
	return f.tenancy.IsTenant(tenancy.Namespace{Name: namespace, Labels: live.Labels}), nil
}

// readNamespace reads the metadata of a namespace.
func readNamespace(ctx context.Context, reader client.Reader, name string) (*metav1.PartialObjectMetadata, error) {
	live := &metav1.PartialObjectMetadata{}
	live.SetGroupVersionKind(namespaceKind)
	if err := reader.Get(ctx, client.ObjectKey{Name: name}, live); err != nil {
		return nil, fmt.Errorf("cannot read namespace %s: %w", name, err)
	}
	return live, nil
}

func hasTenantGitOps(ctx context.Context, reader client.Reader, namespace string) (bool, error) {
	err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: gitopsv1.TenantGitOpsName}, &gitopsv1.TenantGitOps{})
	if err != nil && !apierrors.IsNotFound(err) {
		return false, fmt.Errorf("cannot read the TenantGitOps of %s: %w", namespace, err)
	}
	return err == nil, nil
}
