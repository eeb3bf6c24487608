package kind

import (
	"errors"
	"strings"
)

// ErrUnavailable is what an error is, in the sense of errors.Is, when this machine
// cannot have a kind cluster: a caller may then leave out what needs one.
var ErrUnavailable = errors.New("no kind cluster can be had on this machine")

// unavailableError names what is missing, in one line.
type unavailableError struct {
	missing []string
	hint    string
}

func (e *unavailableError) Error() string {
	text := "no kind cluster can be had on this machine: missing " + strings.Join(e.missing, ", ")
	if e.hint != "" {
		text += " (" + e.hint + ")"
	}
	return text
}

// Is makes every such error an ErrUnavailable.
func (e *unavailableError) Is(target error) bool { return target == ErrUnavailable }
