// Command applicationsapi stands in for the platform's API server of applications: it
// serves the kinds that the cluster's ApplicationDefinitions declare, and stores each
// application as a HelmRelease, with what the platform's server loses on the way, and
// with its faults. It reads the definitions once, when it starts.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/cozystack/gitops-operator/e2e/standins/applicationsapi/server"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	options := server.NewOptions()
	options.AddFlags(pflag.CommandLine)
	pflag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return server.Run(ctx, options)
}
