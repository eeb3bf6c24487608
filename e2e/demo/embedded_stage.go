package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/manifests"
	"github.com/cozystack/gitops-operator/internal/operator"
)

// embeddedStage runs everything as processes, and the git server in this one.
func (d *demo) embeddedStage(ctx context.Context) (*stage, error) {
	if err := d.buildPrograms(ctx, "etcd", "kube-apiserver", "kube-controller-manager", "kubectl", "source-controller", "kustomize-controller"); err != nil {
		return nil, err
	}
	binary, err := d.buildOperator(ctx)
	if err != nil {
		return nil, err
	}
	d.step("A cluster of plain processes, with the platform's Flux in it")
	cluster, err := embedded.Start(ctx, embedded.Options{
		Dir:      d.file("cluster"),
		Flux:     true,
		Runner:   true,
		CRDPaths: []string{filepath.Join(d.root, "config", "crd", "bases")},
		Scheme:   operator.Scheme(),
		Output:   d.out,
	})
	if err != nil {
		return nil, err
	}
	d.onTearDown(func(context.Context) error { return cluster.Stop() })
	s := &stage{
		kubeconfig: d.file("kubeconfig"),
		client:     cluster.Client,
		caveats: []string{
			"nodes and pods: each controller is a process, with the arguments and the service account of its Deployment",
			"the operator's webhooks: an emptied branch deletes at once, and applications from git can be edited by hand (make demo CLUSTER=kind has them)",
			"the enforcement of NetworkPolicies: they are written, and nothing heeds them (make demo CLUSTER=kind has it)",
			"what runs an application: Postgres and Redis are plain objects here, and nothing becomes of them",
		},
	}
	s.explain = func(err error) error {
		var logs strings.Builder
		cluster.WriteLogs(&logs, 20)
		return fmt.Errorf("%w\n%s", err, logs.String())
	}
	if err := os.Link(cluster.Kubeconfig, s.kubeconfig); err != nil {
		return nil, fmt.Errorf("place the kubeconfig: %w", err)
	}
	if err := d.serveGit(ctx, s); err != nil {
		return nil, err
	}
	d.step("The platform's kinds and roles, and the operator as a process with its own account")
	if err := d.installOperator(ctx, cluster); err != nil {
		return nil, err
	}
	process, err := d.startOperator(ctx, cluster, binary)
	if err != nil {
		return nil, err
	}
	d.onTearDown(process.stop)
	s.ended, s.readOperatorLog = process.ended, "tail -n 20 "+process.log
	return s, nil
}

// serveGit starts a git server in this process, to which everybody may push: it
// listens on loopback only.
func (d *demo) serveGit(_ context.Context, s *stage) error {
	server, err := gitserver.Start(gitserver.Options{OpenPush: true})
	if err != nil {
		return err
	}
	d.onTearDown(func(context.Context) error { return server.Close() })
	if s.repository, err = server.NewRepository(repositoryName); err != nil {
		return err
	}
	s.authority = server.CertificateAuthority
	s.sourceURL, s.pushURL = s.repository.HTTPSURL(), s.repository.HTTPSURL()
	return nil
}

// installOperator lays in all of config/default but the Deployment, for which there is
// no node.
func (d *demo) installOperator(ctx context.Context, cluster *embedded.Cluster) error {
	if err := harness.InstallPlatform(ctx, cluster); err != nil {
		return err
	}
	config := filepath.Join(d.root, "config")
	return manifests.ApplyPaths(ctx, cluster.Client, filepath.Join(config, "namespaces"), filepath.Join(config, "rbac"), filepath.Join(config, "tenant-roles"), filepath.Join(config, "policies"))
}
