// Package webhook serves the operator's admission webhooks.
package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	verdict "github.com/cozystack/gitops-operator/internal/admission"
	"github.com/cozystack/gitops-operator/internal/tenancy"
)

// kustomizations answers for Kustomizations in tenants' namespaces.
type kustomizations struct {
	cached, uncached client.Reader
	tenancy          tenancy.Model
}

// Handle decides by the cache, and asks the API server only before it refuses: a
// TenantGitOps made a moment ago must not be missed.
func (k *kustomizations) Handle(ctx context.Context, request admission.Request) admission.Response {
	asked, err := k.parse(request)
	if err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	facts, err := k.facts(ctx, request.Namespace)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	decided := verdict.Decide(asked, facts)
	if decided.Outcome == verdict.Refused && !facts.HasTenantGitOps {
		facts.HasTenantGitOps, err = exists(ctx, k.uncached, request.Namespace)
		if err != nil {
			return admission.Errored(http.StatusInternalServerError, err)
		}
		decided = verdict.Decide(asked, facts)
	}
	switch {
	case decided.Outcome == verdict.Refused:
		return admission.Denied(decided.Message)
	case decided.Outcome == verdict.LeftAlone || reflect.DeepEqual(decided.Object, asked.Object):
		return admission.Allowed("")
	}
	stamped, err := json.Marshal(decided.Object)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, fmt.Errorf("cannot encode the stamped object: %w", err))
	}
	return admission.PatchResponseFromRaw(request.Object.Raw, stamped)
}

func (k *kustomizations) parse(request admission.Request) (verdict.Request, error) {
	asked := verdict.Request{Namespace: request.Namespace, Groups: request.UserInfo.Groups, Object: &unstructured.Unstructured{}}
	if err := asked.Object.UnmarshalJSON(request.Object.Raw); err != nil {
		return asked, fmt.Errorf("cannot parse the object: %w", err)
	}
	if request.Operation == admissionv1.Update {
		asked.Old = &unstructured.Unstructured{}
		if err := asked.Old.UnmarshalJSON(request.OldObject.Raw); err != nil {
			return asked, fmt.Errorf("cannot parse the old object: %w", err)
		}
	}
	return asked, nil
}

func (k *kustomizations) facts(ctx context.Context, namespace string) (verdict.Facts, error) {
	facts := verdict.Facts{AdminGroups: gitopsv1.DefaultAdminGroups()}
	of := tenancy.Namespace{Name: namespace}
	if k.tenancy.Selector != nil {
		live := &metav1.PartialObjectMetadata{}
		live.SetGroupVersionKind(namespaceKind)
		if err := k.get(ctx, client.ObjectKey{Name: namespace}, live); err != nil {
			return facts, err
		}
		of.Labels = live.Labels
	}
	facts.Tenant = k.tenancy.IsTenant(of)
	parameters := &gitopsv1.GitOpsParameters{}
	switch err := k.cached.Get(ctx, client.ObjectKey{Name: gitopsv1.GitOpsParametersName}, parameters); {
	case err == nil:
		facts.AdminGroups = parameters.Spec.AdminGroups
	case !apierrors.IsNotFound(err):
		return facts, fmt.Errorf("cannot read the GitOpsParameters: %w", err)
	}
	var err error
	facts.HasTenantGitOps, err = exists(ctx, k.cached, namespace)
	return facts, err
}

// get reads a namespace that may be younger than the cache knows.
func (k *kustomizations) get(ctx context.Context, key client.ObjectKey, object client.Object) error {
	err := k.cached.Get(ctx, key, object)
	if apierrors.IsNotFound(err) {
		err = k.uncached.Get(ctx, key, object)
	}
	if err != nil {
		return fmt.Errorf("cannot read %s: %w", key.Name, err)
	}
	return nil
}

func exists(ctx context.Context, reader client.Reader, namespace string) (bool, error) {
	err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: gitopsv1.TenantGitOpsName}, &gitopsv1.TenantGitOps{})
	if err != nil && !apierrors.IsNotFound(err) {
		return false, fmt.Errorf("cannot read the TenantGitOps of %s: %w", namespace, err)
	}
	return err == nil, nil
}
