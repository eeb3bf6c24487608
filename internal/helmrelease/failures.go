package helmrelease

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cozystack/gitops-operator/internal/pruneguard"
)

const (
	// maxTold is how many applications a sentence tells of.
	maxTold = 5
	// maxMessage bounds what is told of one, in bytes.
	maxMessage = 512
)

// Health is how the applications of one source fare.
type Health struct {
	// Unready is how many of them have a release that is not ready.
	Unready int64
	// Failed tells of those whose release has failed; empty where none has.
	Failed string
	// Waiting tells of all that are not ready.
	Waiting string
}

// HealthOf sums up the releases of those applications. Home is the namespace that need
// not be told. An application without a release is left out: where there is one for each,
// it is gone, or not yet made, which is for Flux to see.
func HealthOf(applications map[pruneguard.Application]bool, releases []HelmRelease, home string) Health {
	type unready struct {
		application pruneguard.Application
		release     string
		State
	}
	var all []unready
	for i := range releases {
		application, ok := releases[i].Application()
		if !ok || !applications[application] {
			continue
		}
		if state := releases[i].State(); state.Phase != Ready {
			all = append(all, unready{application, releases[i].Name, state})
		}
	}
	slices.SortFunc(all, func(a, b unready) int {
		return cmp.Or(strings.Compare(a.application.String(), b.application.String()), strings.Compare(a.release, b.release))
	})
	health := Health{Unready: int64(len(all))}
	var failed, waiting []string
	for _, one := range all {
		name := strings.ToLower(one.application.Kind) + " "
		if one.application.Namespace != home {
			name += one.application.Namespace + "/"
		}
		name += one.application.Name
		switch {
		case one.Phase == Failed:
			text := name + " failed: " + bounded(one.Message)
			failed, waiting = append(failed, text), append(waiting, text)
		case one.Message != "":
			waiting = append(waiting, name+": "+bounded(one.Message))
		default:
			waiting = append(waiting, name+" has not reported yet")
		}
	}
	health.Failed, health.Waiting = sentence(failed), sentence(waiting)
	return health
}

func sentence(told []string) string {
	if len(told) > maxTold {
		told = append(told[:maxTold:maxTold], fmt.Sprintf("and %d more", len(told)-maxTold))
	}
	return strings.Join(told, "; ")
}

// bounded makes one line of a message, which Helm may spread over many, and cuts it off.
func bounded(message string) string {
	message = strings.Join(strings.Fields(message), " ")
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage], "") + "…"
}
