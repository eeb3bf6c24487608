package isolation_test

import (
	"context"
	"os"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

const root = "../.."

var cluster *embedded.Cluster

func TestMain(m *testing.M) {
	os.Exit(embedded.Main(m, harness.Options(root), func(ctx context.Context, c *embedded.Cluster) error {
		cluster = c
		return harness.Install(ctx, c, root)
	}))
}

// person returns a client of somebody in these groups.
func person(t *testing.T, name string, groups ...string) client.Client {
	t.Helper()
	config, err := cluster.UserConfig(name, groups...)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(config, client.Options{Scheme: cluster.Client.Scheme(), Mapper: cluster.Client.RESTMapper()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
