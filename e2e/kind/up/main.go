// Command up creates the kind cluster in which the end-to-end tests run.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/cozystack/gitops-operator/e2e/kind"
)

// unavailable is the exit code on a machine that cannot have a cluster.
const unavailable = 69

func main() {
	name := flag.String("name", kind.DefaultName, "name of the cluster")
	flavour := flag.String("flavour", string(kind.FluxInPods), "how Flux runs: pods or hostnetwork")
	keep := flag.Bool("keep", false, "use the cluster of that name if it runs and was made of the same inputs")
	check := flag.Bool("check", false, "only tell whether this machine can have a cluster: exit code 69 if it cannot")
	flag.Parse()
	options := kind.Options{Name: *name, Flavour: kind.Flavour(*flavour), Keep: *keep, Log: os.Stderr}
	if err := run(options, *check); err != nil {
		fmt.Fprintln(os.Stderr, err)
		if errors.Is(err, kind.ErrUnavailable) {
			os.Exit(unavailable)
		}
		os.Exit(1)
	}
}

func run(options kind.Options, check bool) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if check {
		return kind.Available(ctx, os.Stderr)
	}
	cluster, err := kind.Create(ctx, options)
	if err != nil {
		return err
	}
	fmt.Printf("export KUBECONFIG=%s\n", cluster.Kubeconfig)
	return nil
}
