package isolation_test

import (
	"slices"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/attempts"
)

// What a source of that kind would be refused is refused where the tenant writes it.
func TestTenantGitOpsIsHeldToTheSameHosts(t *testing.T) {
	const namespace = "tenant-hosts"
	person := newTenantAdmin(t, namespace)
	useParameters(t, map[string]any{"allowedHosts": []any{}, "allowSubmodules": false})
	good := attempts.TenantGitOps(namespace)
	createGood(t, person, good)
	tryAll(t, person, good, slices.Concat(attempts.AllTenantGitOps(namespace), attempts.TenantGitOpsHosts()))
	if err := person.Delete(t.Context(), good.DeepCopy()); client.IgnoreNotFound(err) != nil {
		t.Error(err)
	}
}
