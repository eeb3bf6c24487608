package artifactseal

import (
	"context"
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/internal/apply"
	"github.com/cozystack/gitops-operator/internal/seal"
)

var clusterwideKind = schema.GroupVersionKind{Group: "cilium.io", Version: "v2", Kind: "CiliumClusterwideNetworkPolicy"}

// ciliumCRD is the CRD of Cilium's clusterwide policies; nil where they are not served,
// or not for long.
func (r *Reconciler) ciliumCRD(ctx context.Context) (*apiextensionsv1.CustomResourceDefinition, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := r.Client.Get(ctx, client.ObjectKey{Name: seal.CiliumPolicyCRD}, crd); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return nil, nil
		}
		return nil, fmt.Errorf("cannot read custom resource definition %s: %w", seal.CiliumPolicyCRD, err)
	}
	if crd.DeletionTimestamp != nil {
		return nil, nil
	}
	return crd, nil
}

// deleteClusterwide deletes the operator's clusterwide policies that are not wanted.
func (r *Reconciler) deleteClusterwide(ctx context.Context, wanted map[string]bool) error {
	var errs []error
	for _, name := range []string{seal.NodesPolicy, seal.PodsPolicy} {
		if wanted[name] {
			continue
		}
		policy := &unstructured.Unstructured{}
		policy.SetGroupVersionKind(clusterwideKind)
		err := r.Client.Get(ctx, client.ObjectKey{Name: name}, policy)
		switch {
		case client.IgnoreNotFound(err) == nil && err != nil, apimeta.IsNoMatchError(err):
		case err != nil:
			errs = append(errs, fmt.Errorf("cannot read CiliumClusterwideNetworkPolicy %s: %w", name, err))
		case policy.GetLabels()[seal.Label] == seal.LabelValue && policy.GetLabels()[apply.ManagedByLabel] == apply.FieldManager:
			errs = append(errs, r.Applier.Delete(ctx, policy))
		}
	}
	return errors.Join(errs...)
}
