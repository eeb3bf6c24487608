package check

import "strings"

const (
	// applicationsGroup is that of the managed applications.
	applicationsGroup = "apps.cozystack.io"
	// gitopsApplication is the application that makes a TenantGitOps.
	gitopsApplication = "GitOps"
)

// tenantsOnly says what a tenant's git may not write.
func tenantsOnly(d document) []Finding {
	switch {
	case d.group() != applicationsGroup:
		what := d.object.GetKind()
		if d.group() != "" {
			what += " of " + d.group()
		}
		return []Finding{d.at([]string{"kind"}, Error, RuleTenant, "a tenant's git writes applications (%s) and nothing else: %s is refused", applicationsGroup, what)}
	case strings.EqualFold(d.object.GetKind(), gitopsApplication):
		return []Finding{d.at([]string{"kind"}, Error, RuleTenant, "git may not write the application that it is applied by")}
	}
	return nil
}
