// Command webhook measures how long the operator's admission webhook takes: it puts
// AdmissionReviews to a running operator, beside a real API server, at a steady rate,
// and beside it to a handler that does nothing. It judges nothing: the figures are for
// docs/performance.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/fluxcd/pkg/runtime/logger"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/webhook"
)

const (
	// warmUp fills caches and opens connections; it is not measured.
	warmUp = 3 * time.Second
	// patience bounds the wait for the operator, and for its tenants.
	patience = 3 * time.Minute
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run() error {
	root := flag.String("root", ".", "the repository")
	rate := flag.Int("rate", 200, "requests a second")
	length := flag.Duration("length", 30*time.Second, "how long to measure")
	tenants := flag.Int("tenants", 50, "how many tenants there are")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	logger.SetLogger(logger.NewLogger(logger.Options{LogEncoding: "console", LogLevel: "error"}))
	return measure(ctx, *root, *rate, *length, *tenants)
}

func measure(ctx context.Context, root string, rate int, length time.Duration, tenants int) (err error) {
	options := harness.Options(root)
	// No tenant is reconciled: what is measured is the webhook.
	options.Runner = false
	cluster, err := embedded.Start(ctx, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	if err := harness.Install(ctx, cluster, root); err != nil {
		return err
	}
	questions, err := newTenants(ctx, cluster.Client, tenants)
	if err != nil {
		return err
	}
	operator, err := harness.Start(ctx, cluster, harness.Config(), nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, operator.Stop()) }()
	if err := awaitReady(ctx, operator); err != nil {
		return err
	}
	if err := awaitSettled(ctx, cluster.Client, tenants); err != nil {
		return err
	}
	bundle, err := liveBundle(ctx, cluster.Client)
	if err != nil {
		return err
	}
	bottom, err := startFloor()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bottom.stop()) }()

	webhookTook, err := load(ctx, rate, length, harness.WebhookURL(operator.Webhooks.Port), bundle, questions, true)
	if err != nil {
		return fmt.Errorf("the webhook: %w", err)
	}
	floorTook, err := load(ctx, rate, length, harness.WebhookURL(bottom.port), bottom.bundle, questions, false)
	if err != nil {
		return fmt.Errorf("the floor: %w", err)
	}
	fmt.Printf("%d requests at %d a second, %d tenants, %d processors, load %s\n\n", len(webhookTook), rate, tenants, runtime.NumCPU(), loadAverage())
	fmt.Println("| | p50 | p99 | max |\n|---|---|---|---|")
	row("webhook", webhookTook)
	row("floor", floorTook)
	fmt.Print("| ratio |")
	for _, part := range []float64{0.5, 0.99, 1} {
		fmt.Printf(" %.1f |", float64(webhookTook.quantile(part))/float64(floorTook.quantile(part)))
	}
	fmt.Println()
	return nil
}

func row(name string, took measured) {
	fmt.Printf("| %s |", name)
	for _, part := range []float64{0.5, 0.99, 1} {
		fmt.Printf(" %.2f ms |", float64(took.quantile(part).Microseconds())/1000)
	}
	fmt.Println()
}

// load puts the questions to a webhook, over connections that are kept, as the API
// server does. Each answer must allow, and stamp where that is due.
func load(ctx context.Context, rate int, length time.Duration, address string, bundle []byte, questions [][]byte, stamps bool) (measured, error) {
	caller, err := harness.WebhookClient(bundle, true)
	if err != nil {
		return nil, err
	}
	defer caller.CloseIdleConnections()
	ask := func(ctx context.Context, i int) error {
		answer, _, err := harness.Ask(ctx, caller, address, questions[i%len(questions)])
		if err == nil && (!answer.Allowed || stamps != (len(answer.Patch) > 0)) {
			err = fmt.Errorf("an answer that is none: allowed %t, %d bytes of patch", answer.Allowed, len(answer.Patch))
		}
		return err
	}
	if _, err := askAtRate(ctx, rate, warmUp, ask); err != nil {
		return nil, err
	}
	return askAtRate(ctx, rate, length, ask)
}

func awaitReady(ctx context.Context, operator *harness.Operator) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := operator.Ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the operator: %w", err)
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func liveBundle(ctx context.Context, c client.Client) ([]byte, error) {
	configuration := &admissionregistrationv1.MutatingWebhookConfiguration{}
	if err := c.Get(ctx, client.ObjectKey{Name: webhook.ConfigurationName}, configuration); err != nil {
		return nil, fmt.Errorf("read what the API server trusts: %w", err)
	}
	return configuration.Webhooks[0].ClientConfig.CABundle, nil
}

// loadAverage says how busy the machine is with whatever else.
func loadAverage() string {
	content, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(content))[:1], " ")
}
