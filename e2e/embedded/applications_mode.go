package embedded

import (
	"fmt"
	"os"
)

// ApplicationsMode is how a cluster serves applications (apps.cozystack.io).
type ApplicationsMode string

const (
	// AggregatedApplications are served as on the platform: by an API server of their
	// own, which stores them as HelmReleases.
	AggregatedApplications ApplicationsMode = "aggregated"
	// CRDApplications are custom resources.
	CRDApplications ApplicationsMode = "crd"

	// ApplicationsVariable is the environment variable that says the mode where Options
	// do not.
	ApplicationsVariable = "GITOPS_OPERATOR_TEST_APPLICATIONS"

	// unsetApplications is the mode where nobody says one: the platform's.
	unsetApplications = AggregatedApplications
)

// orByEnvironment is the mode of a cluster whose options say this one.
func (m ApplicationsMode) orByEnvironment() (ApplicationsMode, error) {
	if m == "" {
		m = ApplicationsMode(os.Getenv(ApplicationsVariable))
	}
	switch m {
	case "":
		return unsetApplications, nil
	case AggregatedApplications, CRDApplications:
		return m, nil
	}
	return "", fmt.Errorf("serve applications: %q is no way to: set %s to %s or %s", m, ApplicationsVariable, AggregatedApplications, CRDApplications)
}
