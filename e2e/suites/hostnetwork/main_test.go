//go:build kind

package hostnetwork_test

import (
	"os"
	"testing"

	"github.com/cozystack/gitops-operator/e2e/kind"
	"github.com/cozystack/gitops-operator/e2e/suites"
)

// stage is what all tests of the package run on.
var stage *suites.Stage

func TestMain(m *testing.M) {
	os.Exit(suites.Main(m, suites.Options{Flavour: kind.FluxOnHostNetwork}, func(s *suites.Stage) { stage = s }))
}
