package packagevalues

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/cozystack/gitops-operator/internal/override"
)

// notAsked is why a release that was written has other values than the webhook gives it.
const notAsked = "the webhook releases.gitops.cozystack.io was not asked; compare the MutatingWebhookConfiguration gitops-operator with config/webhook"

// refusal is a write of a release that did not give it its values.
type refusal struct {
	write override.Write
	why   string
	at    time.Time
}

// refusalsOf are those of the releases of one Package.
type refusalsOf map[types.NamespacedName]refusal

func (r refusalsOf) note(write override.Write, why string) {
	r[write.Release] = refusal{write: write, why: why, at: time.Now()}
}

// keepRefusals remembers what one pass over a Package has come to, in place of the last one.
func (r *Reconciler) keepRefusals(name string, refused refusalsOf) {
	if len(refused) == 0 {
		r.refusals.Delete(name)
		return
	}
	r.refusals.Store(name, refused)
}

// refusedRecently says whether a release did not take the same values less than retryInterval
// ago. What is stored of a write while nobody asks the webhook is an event, by which the release
// is looked at again: without a pause one write would follow the other for ever.
func (r *Reconciler) refusedRecently(name string, write override.Write) (refusal, bool) {
	kept, found := r.refusals.Load(name)
	if !found {
		return refusal{}, false
	}
	last, found := kept.(refusalsOf)[write.Release]
	same := last.write.Overridden == write.Overridden && last.write.Digest == write.Digest
	return last, found && same && time.Since(last.at) < retryInterval
}
