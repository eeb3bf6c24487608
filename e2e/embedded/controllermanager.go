package embedded

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"time"
)

const controllerManagerTimeout = time.Minute

// controllers are those that work without nodes. The ones of Deployments and
// ReplicaSets are missing on purpose: the runner stands in for them, and for the
// kubelet, and pods of theirs would wait for a node for ever.
var controllers = []string{
	"clusterrole-aggregation-controller",
	"garbage-collector-controller",
	"namespace-controller",
	"resourcequota-controller",
	"root-ca-certificate-publisher-controller",
	"serviceaccount-controller",
	"serviceaccount-token-controller",
	"validatingadmissionpolicy-status-controller",
}

func (c *Cluster) startControllerManager(ctx context.Context) error {
	config, err := c.UserConfig("system:kube-controller-manager")
	if err != nil {
		return err
	}
	kubeconfig := filepath.Join(c.Dir, "controller-manager", "kubeconfig")
	if err := c.writeUserKubeconfig(kubeconfig, config); err != nil {
		return err
	}
	p, err := c.start(ctx, "kube-controller-manager", nil,
		"--kubeconfig="+kubeconfig,
		"--authentication-kubeconfig="+kubeconfig,
		"--authorization-kubeconfig="+kubeconfig,
		"--bind-address=127.0.0.1",
		portFlag("secure-port", c.ports.controllerManager),
		"--leader-elect=false",
		"--controllers="+strings.Join(controllers, ","),
		// Each controller acts as an account of its own, as on a real cluster:
		// admission policies tell them apart by it.
		"--use-service-account-credentials=true",
		"--root-ca-file="+c.apiServerFile("ca.crt"),
		"--service-account-private-key-file="+c.apiServerFile("accounts.key"),
		"--kube-api-qps=200", "--kube-api-burst=400",
	)
	if err != nil {
		return err
	}
	httpClient := &http.Client{Transport: selfSignedTransport(), Timeout: time.Second}
	return p.awaitReady(ctx, controllerManagerTimeout, func(ctx context.Context) error {
		return getOK(ctx, httpClient, "https://"+loopback(c.ports.controllerManager)+"/healthz")
	})
}
