package admission

import (
	"fmt"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
)

// NewSource is a source of Flux's that somebody creates.
type NewSource struct {
	Namespace, Kind, Name string
	// User and Groups of who writes.
	User   string
	Groups []string
}

// SourceFacts are what a decision about a new source rests on.
type SourceFacts struct {
	// HasTenantGitOps: there is a TenantGitOps in the namespace.
	HasTenantGitOps bool
	// Others are the sources that are there, or were let through a moment ago.
	Others int
	// Max is how many there may be.
	Max int
}

// Exempt says that the source passes whatever else there is: it is an admin's, the
// platform's, or one that the operator stamps, whose number the TenantGitOps bounds.
func (s NewSource) Exempt(operator string, adminGroups []string) bool {
	return s.User == operator || isAdmin(s.Groups, adminGroups) || isPlatform(s.User)
}

// IsForTenants says whether tenants have sources of this kind at all: the policies look
// at no others.
func (s NewSource) IsForTenants() bool {
	return s.Kind == sourcev1.GitRepositoryKind || s.Kind == sourcev1.OCIRepositoryKind
}

// DecideSource decides about a source that is not exempt.
func DecideSource(source NewSource, facts SourceFacts) Verdict {
	refuse := func(why string) Verdict {
		return Verdict{Outcome: Refused, Message: fmt.Sprintf("%s %s: %s", strings.ToLower(source.Kind), source.Name, why)}
	}
	switch {
	case !source.IsForTenants():
		return refuse(fmt.Sprintf("tenants have no sources of the kind %s: keep the files in a git repository, or push them as an artifact to an OCI registry, and list that in the TenantGitOps gitops", source.Kind))
	case !facts.HasTenantGitOps:
		return refuse(switchOnFirst(source.Namespace))
	case facts.Others >= facts.Max:
		return refuse(fmt.Sprintf("namespace %s has %d sources (GitRepositories and OCIRepositories), and may have %d: delete one that is not needed, or ask the platform's admin to raise spec.maxSources of GitOpsParameters gitops",
			source.Namespace, facts.Others, facts.Max))
	}
	return Verdict{Outcome: LeftAlone}
}
