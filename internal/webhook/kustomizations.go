// Package webhook serves the operator's admission webhooks.
package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	verdict "github.com/cozystack/gitops-operator/internal/admission"
)

// kustomizations answers for Kustomizations in tenants' namespaces.
type kustomizations struct {
	facts

	// operator is the user that takes down what a TenantGitOps left that is gone.
	operator string
}

// Handle decides by the cache, and asks the API server only before it refuses: a
// TenantGitOps made a moment ago must not be missed.
func (k *kustomizations) Handle(ctx context.Context, request admission.Request) admission.Response {
	asked, err := k.parse(request)
	if err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	facts, err := k.ofKustomization(ctx, request.Namespace)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	if request.UserInfo.Username == k.operator {
		facts.HasTenantGitOps = true
	}
	decided := verdict.Decide(asked, facts)
	if decided.Outcome == verdict.Refused && !facts.HasTenantGitOps {
		facts.HasTenantGitOps, err = hasTenantGitOps(ctx, k.uncached, request.Namespace)
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

func (k *kustomizations) ofKustomization(ctx context.Context, namespace string) (verdict.Facts, error) {
	parameters, err := k.parameters(ctx)
	if err != nil {
		return verdict.Facts{}, err
	}
	facts := verdict.Facts{AdminGroups: parameters.AdminGroups}
	if facts.Tenant, err = k.isTenant(ctx, namespace); err != nil {
		return facts, err
	}
	facts.HasTenantGitOps, err = hasTenantGitOps(ctx, k.cached, namespace)
	return facts, err
}
