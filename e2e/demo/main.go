// Command demo takes a machine with Go and git to a tenant whose repository is
// applied: it makes a cluster, runs the operator in it, gives a tenant a repository
// with two applications, and follows what becomes of further commits until it is
// interrupted. Then it takes everything down again.
//
// "make demo" runs it; -cluster says on which kind of cluster.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
)

// init keeps the main goroutine on the thread that lives as long as the process: the
// kernel ends the operator with the thread that started it.
func init() { runtime.LockOSThread() }

func main() {
	kindOfCluster := flag.String("cluster", "embedded", "embedded: processes, without root and Docker; kind: real pods")
	keep := flag.Bool("keep", false, "with -cluster=kind, leave the cluster and the demo's folder")
	flag.Parse()
	// What the demo says is for people; what the operator says has its own log.
	ctrl.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second interrupt does not wait for the end of the first.
	context.AfterFunc(ctx, stop)
	if err := run(ctx, *kindOfCluster, *keep, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, kindOfCluster string, keep bool, out io.Writer) (err error) {
	began := time.Now()
	d, err := newDemo(out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.tearDown()) }()
	var s *stage
	switch kindOfCluster {
	case "embedded":
		s, err = d.embeddedStage(ctx)
	case "kind":
		s, err = d.kindStage(ctx, keep)
	default:
		err = fmt.Errorf("choose a cluster: %q is neither embedded nor kind", kindOfCluster)
	}
	if err != nil {
		return err
	}
	if err := d.allowGitHost(ctx, s); err != nil {
		return err
	}
	if err := d.enableGitOps(ctx, s); err != nil {
		return err
	}
	tenant, err := d.awaitReady(ctx, s)
	if err != nil {
		return err
	}
	if err := d.showWhatThereIs(ctx, s, time.Since(began)); err != nil {
		return err
	}
	return d.follow(ctx, s, tenant.Status.AppliedRevision)
}
