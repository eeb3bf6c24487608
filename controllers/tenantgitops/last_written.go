package tenantgitops

import (
	"sync"

	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
)

// lastWritten remembers each TenantGitOps as the operator wrote it last. A pass that
// follows at once may read from a cache which has not seen that yet: it would tell
// the same change twice, or take its own outcome for what is stored already.
type lastWritten struct {
	mu      sync.Mutex
	objects map[client.ObjectKey]*gitopsv1.TenantGitOps
}

// Remember keeps a TenantGitOps as the API server returned it.
func (l *lastWritten) Remember(tenant *gitopsv1.TenantGitOps) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.objects == nil {
		l.objects = map[client.ObjectKey]*gitopsv1.TenantGitOps{}
	}
	l.objects[client.ObjectKeyFromObject(tenant)] = tenant
}

// Forget drops what is remembered of a TenantGitOps that is gone.
func (l *lastWritten) Forget(key client.ObjectKey) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.objects, key)
}

// Newer returns what is remembered, where the cache is behind it, else the cached.
func (l *lastWritten) Newer(cached *gitopsv1.TenantGitOps) *gitopsv1.TenantGitOps {
	l.mu.Lock()
	defer l.mu.Unlock()
	written, ok := l.objects[client.ObjectKeyFromObject(cached)]
	if !ok || written.UID != cached.UID {
		return cached
	}
	if order, err := resourceversion.CompareResourceVersion(cached.ResourceVersion, written.ResourceVersion); err != nil || order >= 0 {
		return cached
	}
	return written.DeepCopy()
}
