package merge

import (
	"errors"
	"fmt"
	"slices"
)

// Strategy is how a list of the override meets that of the Package.
type Strategy string

const (
	// Append puts the override's items after the Package's.
	Append Strategy = "Append"
	// MergeByKey merges each of the override's items into that of the Package's which has
	// the same under the rule's key, and puts the others after them. Lists in an item
	// replace those of the other one.
	MergeByKey Strategy = "MergeByKey"
)

// ListRule says how the lists at a path are merged.
type ListRule struct {
	Path     Path
	Strategy Strategy
	// Key tells items apart, for MergeByKey only. Each item is a map with a string, a
	// number or a boolean there, which no other has; a number is told by its text.
	Key string
}

// Override is what is laid over the values of a Package.
type Override struct {
	// Values are a JSON map; empty where there are none.
	Values []byte
	// Unset are paths that get a null, after the values, in maps that are made where
	// nothing is on the way.
	Unset []Path
	// Lists are rules for lists, in maps. Other lists are replaced.
	Lists []ListRule
}

// Validate returns all that is wrong with an override, whatever Package it is for: values
// that are no JSON map, are not UTF-8, have a key twice in a map, or more maps and lists in
// each other than MaxDepth; what is unset twice, or unset and set; a rule with no strategy,
// the wrong key, or a second rule for its path; and items that do not have the key that
// tells them apart, or have the same there. Each error says what to mend.
func (o Override) Validate() error {
	_, err := o.read()
	return err
}

// over is an override that was read.
type over struct {
	root  value
	rules []*rule
}

// rule is a ListRule with the list that the override has for it.
type rule struct {
	ListRule
	// member of the override that has the list; nil where it has none.
	member *member
	// what the override has instead.
	what string
	// identities of the list's items, for MergeByKey.
	identities []identity
}

func (o Override) read() (*over, error) {
	values, err := readDocument(o.Values)
	if err != nil {
		return nil, fmt.Errorf("cannot read the override's values: %w", err)
	}
	read := &over{root: values.root}
	problems := o.unsetProblems(values.root)
	for i, asked := range o.Lists {
		r := &rule{ListRule: asked}
		read.rules = append(read.rules, r)
		if problem := r.problem(); problem != nil {
			problems = append(problems, problem)
			continue
		}
		if slices.ContainsFunc(o.Lists[:i], func(other ListRule) bool { return other.Path.Compare(r.Path) == 0 }) {
			problems = append(problems, fmt.Errorf("listMerge has two rules for %s: take one out", shown(r.Path.String())))
			continue
		}
		if problem := r.resolve(values.root); problem != nil {
			problems = append(problems, problem)
		}
	}
	return read, errors.Join(problems...)
}

// unsetProblems are paths that are unset twice, or set too.
func (o Override) unsetProblems(values value) (problems []error) {
	paths := slices.SortedFunc(slices.Values(o.Unset), Path.Compare)
	var last Path
	for _, path := range paths {
		if path.depth == 0 {
			problems = append(problems, errors.New("unset has an empty path: name a key"))
			continue
		}
		if last.depth > 0 && path.isIn(last) {
			problems = append(problems, fmt.Errorf("unset has %s, and with %s that goes already: take it out",
				shown(path.String()), shown(last.String())))
			continue
		}
		last = path
		if found, _ := values.find(path); found != nil {
			problems = append(problems, fmt.Errorf("%s is both in unset and in values: take it out of one", shown(path.String())))
		}
	}
	return problems
}

// problem is what is wrong with a rule by itself.
func (r ListRule) problem() error {
	path := shown(r.Path.String())
	switch {
	case r.Path.depth == 0:
		return errors.New("listMerge has a rule with an empty path: name a key")
	case r.Strategy == MergeByKey && r.Key == "":
		return fmt.Errorf("listMerge for %s has the strategy MergeByKey and no key: name the key that tells the items apart", path)
	case r.Strategy == Append && r.Key != "":
		return fmt.Errorf("listMerge for %s has the key %q, which Append does not look at: take it out, or write MergeByKey", path, shown(r.Key))
	case r.Strategy != Append && r.Strategy != MergeByKey:
		return fmt.Errorf("listMerge for %s has the strategy %q: write Append or MergeByKey", path, shown(string(r.Strategy)))
	}
	return nil
}

// resolve finds the list that a rule is for among the override's values.
func (r *rule) resolve(values value) error {
	found, what := values.find(r.Path)
	if found == nil || !found.value.isList() {
		r.what = what
		return nil
	}
	r.member = found
	if err := readItems(&found.value); err != nil {
		return err
	}
	if r.Strategy == Append {
		return nil
	}
	var err error
	r.identities, err = r.identify(found.value, "the override's")
	return err
}

// meets says whether both sides have a list for a rule, and why it does nothing; nothing
// where it does something.
func (r *rule) meets(under value) (both bool, idle string) {
	if r.member == nil {
		return false, "the override has " + r.what
	}
	found, what := under.find(r.Path)
	if found == nil || !found.value.isList() {
		return false, "the Package has " + what + ": the override's list is taken as it is"
	}
	if r.member.value.length == 0 {
		return true, "the override's list is empty"
	}
	return true, ""
}
