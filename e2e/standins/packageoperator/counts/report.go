// Package counts holds the counts of what the package operator does: how often it
// reconciles a Package, and what becomes of its writes.
package counts

// Path is where the counts are served, as the JSON of a Report.
const Path = "/counts"

// The verbs of writes.
const (
	Create       = "create"
	Update       = "update"
	UpdateStatus = "update status"
	Delete       = "delete"
	Apply        = "apply"
)

// Report is all that was counted since the program's start.
type Report struct {
	// Packages are the reconciliations, by the Package's name.
	Packages map[string]Reconciled `json:"packages"`
	// Writes are in no order; there is one for each verb and object.
	Writes []Write `json:"writes"`
}

// Reconciled counts the reconciliations that have ended, of one Package.
type Reconciled struct {
	// Succeeded are those that need not be tried again, though the Package may not be
	// ready; Failed are tried again.
	Succeeded int `json:"succeeded"`
	Failed    int `json:"failed"`
}

// Write counts the writes of one object.
type Write struct {
	Verb      string `json:"verb"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Changed are the writes that changed something in storage, Unchanged those that did
	// not. An apply counts as changing the object if it leaves another version than the
	// apply before.
	Changed   int `json:"changed"`
	Unchanged int `json:"unchanged"`
	// Failed are those that were not stored.
	Failed int `json:"failed"`
}

// Of finds the writes of an object; of one that was not written it is all zeros.
func (r Report) Of(verb, kind, namespace, name string) Write {
	wanted := Write{Verb: verb, Kind: kind, Namespace: namespace, Name: name}
	for _, write := range r.Writes {
		if write.key() == wanted.key() {
			return write
		}
	}
	return wanted
}

// All is how often writes were tried.
func (w Write) All() int { return w.Changed + w.Unchanged + w.Failed }

type key struct{ verb, kind, namespace, name string }

func (w Write) key() key { return key{w.Verb, w.Kind, w.Namespace, w.Name} }
