package embedded

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"
)

// Main starts one cluster for all tests of a package, hands it to prepare, runs the
// tests and stops the cluster. It returns the code to exit with:
//
//	func TestMain(m *testing.M) { os.Exit(embedded.Main(m, options, prepare)) }
//
// When tests fail, the ends of all logs are printed.
func Main(m *testing.M, options Options, prepare func(context.Context, *Cluster) error) int {
	ctx := context.Background()
	began := time.Now()
	cluster, err := Start(ctx, options)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	cluster.tell("ready in %.1fs", time.Since(began).Seconds())
	code := 1
	if err := prepare(ctx, cluster); err != nil {
		fmt.Fprintln(os.Stderr, "prepare the embedded cluster:", err)
	} else {
		code = m.Run()
	}
	if code != 0 {
		cluster.WriteLogs(os.Stderr, 40)
	}
	if err := cluster.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}
