package tenantgitops

import (
	"sync"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/internal/ownership"
)

// claimedFrom is the index of Kustomizations by the namespaces of those whose
// applications they claim.
const claimedFrom = "gitops.cozystack.io/claimed-from"

func claimedNamespaces(obj client.Object) []string {
	k, ok := obj.(*kustomizev1.Kustomization)
	if !ok {
		return nil
	}
	var namespaces []string
	for _, claim := range ownership.Claims(k) {
		namespaces = append(namespaces, claim.Owner.Namespace)
	}
	return namespaces
}

// claimWatch remembers which tenants look at a Kustomization of another tenant, so that
// they look again when it changes. It spares time and decides nothing: an operator that
// has forgotten it looks at every tenant when it starts.
type claimWatch struct {
	mu sync.Mutex
	// tenants are namespaces, by the Kustomization that they wait for.
	tenants map[client.ObjectKey]map[string]bool
}

// watch replaces what a tenant waits for.
func (w *claimWatch) watch(tenant string, kustomizations map[client.ObjectKey]bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, tenants := range w.tenants {
		if delete(tenants, tenant); len(tenants) == 0 {
			delete(w.tenants, key)
		}
	}
	for key := range kustomizations {
		if key.Namespace == tenant {
			continue
		}
		if w.tenants == nil {
			w.tenants = map[client.ObjectKey]map[string]bool{}
		}
		if w.tenants[key] == nil {
			w.tenants[key] = map[string]bool{}
		}
		w.tenants[key][tenant] = true
	}
}

func (w *claimWatch) waitingFor(kustomization client.ObjectKey) []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return sortedKeys(w.tenants[kustomization])
}
