package secrettheft_test

import (
	"context"
	"os"
	"testing"

	"go.uber.org/zap/zapcore"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/cozystack/gitops-operator/e2e/attempts"
	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/manifests"
)

// root leads from this package to the repository.
const root = "../.."

var (
	cluster *embedded.Cluster
	// operatorLog keeps all that the operator logs.
	operatorLog = &harness.LogBuffer{}
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(zap.New(zap.WriteTo(operatorLog), zap.Level(zapcore.DebugLevel)))
	os.Exit(embedded.Main(m, harness.Options(root), func(ctx context.Context, c *embedded.Cluster) error {
		cluster = c
		if err := harness.Install(ctx, c, root); err != nil {
			return err
		}
		return manifests.Apply(ctx, c.Client, attempts.FluxForAdmins())
	}))
}
