package pruneguard

import (
	"fmt"
	"strings"
)

// Message says what the revision would delete and what the tenant can do. The mend
// comes before the names, since long messages are cut off.
func (d Decision) Message(source string) string {
	if d.Granted {
		return fmt.Sprintf("deleting %d of %d applications", d.Prune.Applications, d.Prune.Of)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%s would delete %s of %d applications, so they are kept. ", d.Prune.Revision, d.count(), d.Prune.Of)
	if d.Spent {
		fmt.Fprintf(&text, "confirmPrune of source %s says so already, for a prune that is done: to delete these too, remove it, apply, and set it to %q again", source, d.Prune.Revision)
	} else {
		fmt.Fprintf(&text, "To delete them, set confirmPrune: %q in source %s", d.Prune.Revision, source)
	}
	text.WriteString("; to keep them, revert the commit, or the change of the source. They are ")
	text.WriteString(strings.Join(d.Prune.Names, ", "))
	if more := d.Prune.Applications - int64(len(d.Prune.Names)); more > 0 {
		fmt.Fprintf(&text, " and %d more", more)
	}
	return text.String()
}

// MessageWaiting says what the revision would delete, and that it waits for another source
// that somebody has to see to; other names it, and state is what is the matter with it.
func (d Decision) MessageWaiting(source, other, state string) string {
	return fmt.Sprintf("%s does not have %d of %d applications any more. They are kept, since %s %s and may have them now: mend or suspend it; or, to delete them, set confirmPrune: %q in source %s. They are %s",
		d.Prune.Revision, d.Prune.Applications, d.Prune.Of, other, state, d.Prune.Revision, source, strings.Join(d.Prune.Names, ", "))
}

func (d Decision) count() string {
	if d.Incomplete {
		return fmt.Sprintf("at least %d", d.Prune.Applications)
	}
	return fmt.Sprint(d.Prune.Applications)
}
