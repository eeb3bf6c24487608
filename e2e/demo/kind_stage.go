package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/kind"
	"github.com/cozystack/gitops-operator/e2e/suites"
	"github.com/cozystack/gitops-operator/internal/operator"
)

const (
	kindCluster   = "gitops-demo"
	operatorImage = "gitops-operator.test/gitops-operator"
	operatorTag   = "demo"
)

// kindStage runs everything in pods of a kind cluster.
func (d *demo) kindStage(ctx context.Context, keep bool) (*stage, error) {
	if err := d.buildPrograms(ctx, "kind", "kubectl"); err != nil {
		return nil, err
	}
	binary, err := d.buildOperator(ctx)
	if err != nil {
		return nil, err
	}
	d.step("A kind cluster, with the platform's Flux in it")
	// Also of a cluster whose creation is interrupted.
	d.onTearDown(func(ctx context.Context) error { return d.endKind(ctx, keep) })
	cluster, err := kind.Create(ctx, kind.Options{Name: kindCluster, Log: d.out})
	if err != nil {
		return nil, err
	}
	s := &stage{
		kubeconfig:      cluster.Kubeconfig,
		readOperatorLog: "kubectl -n " + operatorNamespace + " logs deployment/gitops-operator",
		caveats: []string{
			"what runs an application: the release of Postgres or Redis is a ConfigMap here, made by stand-ins for the platform's API server and helm-controller",
		},
	}
	if s.client, err = client.New(cluster.RESTConfig, client.Options{Scheme: operator.Scheme()}); err != nil {
		return nil, fmt.Errorf("make a client of the kind cluster: %w", err)
	}
	d.step("A git server, as a pod")
	if err := d.serveGitInPod(ctx, s, cluster); err != nil {
		return nil, err
	}
	d.step("The platform's kinds and roles, and the operator as its Deployment")
	if err := suites.InstallPlatform(ctx, cluster, s.client); err != nil {
		return nil, err
	}
	if err := cluster.LoadBinaryImage(ctx, operatorImage+":"+operatorTag, binary, "gitops-operator"); err != nil {
		return nil, err
	}
	overlay, err := d.writeOverlay()
	if err != nil {
		return nil, err
	}
	if err := d.runKubectl(ctx, s, "apply", "--server-side", "-k", overlay); err != nil {
		return nil, err
	}
	return s, cluster.AwaitDeployment(ctx, operatorNamespace, "gitops-operator")
}

// endKind deletes the cluster, or says how to.
func (d *demo) endKind(ctx context.Context, keep bool) error {
	if !keep {
		return kind.Delete(ctx, kindCluster)
	}
	d.keepDir = true
	d.say("kept the cluster and %s; to delete them:\n  go run ./e2e/kind/down -name %s\n  rm -r %s", d.dir, kindCluster, d.dir)
	return nil
}

// overlay is config/default with the images that the node has.
const overlay = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
resources:
- %s
images:
- name: cozystack/gitops-operator
  newName: %s
  newTag: %s
patches:
- target:
    kind: Deployment
    name: gitops-operator
  patch: |-
    - op: add
      path: /spec/template/spec/containers/0/args/-
      value: --controller-image=%s
`

func (d *demo) writeOverlay() (dir string, err error) {
	controllerImage, err := kind.ProgramImage("kustomize-controller")
	if err != nil {
		return "", err
	}
	dir = d.file("install")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("write the operator's manifests: %w", err)
	}
	// Kustomize takes relative paths only.
	base, err := filepath.Rel(dir, filepath.Join(d.root, "config", "default"))
	if err != nil {
		return "", fmt.Errorf("write the operator's manifests: %w", err)
	}
	text := fmt.Sprintf(overlay, base, operatorImage, operatorTag, controllerImage)
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), []byte(text), 0o644); err != nil {
		return "", fmt.Errorf("write the operator's manifests: %w", err)
	}
	return dir, nil
}

// serveGitInPod starts a git server that pods reach by its Service, and a person by a
// port of the node. There it speaks plain HTTP, since the certificate is the Service's.
func (d *demo) serveGitInPod(ctx context.Context, s *stage, cluster *kind.Cluster) error {
	server, err := cluster.StartGitServer(ctx)
	if err != nil {
		return err
	}
	if s.repository, err = server.NewRepository(ctx, repositoryName); err != nil {
		return err
	}
	service, secret := &corev1.Service{}, &corev1.Secret{}
	for key, object := range map[client.ObjectKey]client.Object{
		{Namespace: "git-server", Name: "git-server"}: service,
		{Namespace: "git-server", Name: "push"}:       secret,
	} {
		if err := s.client.Get(ctx, key, object); err != nil {
			return fmt.Errorf("find the way to the git server: %w", err)
		}
	}
	for _, port := range service.Spec.Ports {
		if port.Name == "http" {
			host := net.JoinHostPort(cluster.NodeAddress, strconv.Itoa(int(port.NodePort)))
			s.pushURL = fmt.Sprintf("http://git:%s@%s/%s.git", secret.Data["password"], host, repositoryName)
		}
	}
	s.authority, s.sourceURL = server.CertificateAuthority, s.repository.HTTPSURL()
	return nil
}
