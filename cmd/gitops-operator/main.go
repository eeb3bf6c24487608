// Command gitops-operator runs the operator in the cluster that its service
// account, or KUBECONFIG, leads to. "gitops-operator check"
// reads a repository's tree, and "gitops-operator diff" compares one with a cluster.
package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/fluxcd/pkg/runtime/logger"
	"github.com/spf13/pflag"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/cozystack/gitops-operator/internal/operator"
)

func main() {
	err := run(os.Args[1:])
	if err == nil {
		return
	}
	code := 1
	var exit exitError
	if errors.As(err, &exit) {
		code = exit.code
	}
	if err.Error() != "" {
		fmt.Fprintln(os.Stderr, "gitops-operator:", err)
	}
	os.Exit(code)
}

func run(args []string) error {
	if len(args) > 0 && args[0] == certificatesCommand {
		return runCertificates(args[1:])
	}
	if len(args) > 0 && args[0] == checkCommand {
		return runCheck(args[1:], os.Stdout, os.Stderr)
	}
	if len(args) > 0 && args[0] == diffCommand {
		return runDiff(ctrl.SetupSignalHandler(), args[1:], os.Stdout, os.Stderr)
	}
	flags := pflag.NewFlagSet("gitops-operator", pflag.ContinueOnError)
	o := &options{}
	o.bind(flags)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return nil
		}
		return err
	}
	if err := o.validateLogging(); err != nil {
		return err
	}
	config, err := o.tenantGitOps()
	if err != nil {
		return err
	}
	logger.SetLogger(logger.NewLogger(logger.Options{LogEncoding: o.logFormat, LogLevel: o.logLevel}))

	restConfig, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("cannot find a cluster: run in a pod, or set KUBECONFIG: %w", err)
	}
	mgr, err := operator.New(restConfig, operator.Options{
		TenantGitOps:            config,
		Customizer:              o.customizer,
		Webhook:                 o.webhook(config.Tenancy),
		MetricsAddress:          o.metricsAddress,
		HealthAddress:           o.healthAddress,
		LeaderElection:          o.leaderElection,
		LeaderElectionNamespace: o.operatorNamespace,
	})
	if err != nil {
		return err
	}
	return mgr.Start(ctrl.SetupSignalHandler())
}
