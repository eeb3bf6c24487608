package main

import (
	"errors"
	"fmt"

	"github.com/fluxcd/pkg/runtime/logger"
	"github.com/spf13/pflag"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/internal/certs"
	"github.com/cozystack/gitops-operator/internal/operator"
	"github.com/cozystack/gitops-operator/internal/webhook"
)

// certificatesCommand keeps the webhooks' certificates, beside the operator.
const certificatesCommand = "certificates"

// runCertificates renews the webhooks' certificate and what the API server trusts,
// until it is told to end.
func runCertificates(args []string) error {
	flags := pflag.NewFlagSet("gitops-operator "+certificatesCommand, pflag.ContinueOnError)
	o := &options{}
	o.bindCertificates(flags)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return nil
		}
		return err
	}
	if err := o.validateLogging(); err != nil {
		return err
	}
	logger.SetLogger(logger.NewLogger(logger.Options{LogEncoding: o.logFormat, LogLevel: o.logLevel}))
	restConfig, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("cannot find a cluster: run in a pod, or set KUBECONFIG: %w", err)
	}
	c, err := client.New(restConfig, client.Options{Scheme: operator.Scheme()})
	if err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}
	rotation := &certs.Rotation{
		Client:         c,
		Secret:         client.ObjectKey{Namespace: o.operatorNamespace, Name: webhook.CertificatesSecret},
		Configurations: webhook.Configurations(),
		Hosts:          []string{webhook.Host(o.operatorNamespace)},
		Lives:          certs.DefaultLives(),
		Interval:       certificatesInterval,
	}
	return rotation.Start(ctrl.SetupSignalHandler())
}
