package embedded

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"k8s.io/client-go/rest"

	"github.com/cozystack/gitops-operator/e2e/certificates"
)

const apiServerTimeout = 2 * time.Minute

// advertisedAddress stands behind the Service default/kubernetes, whose addresses may
// not be loopback. It is of a range kept for documentation: nobody connects to it.
const advertisedAddress = "192.0.2.1"

// serviceIssuer is the issuer of service account tokens, as on any cluster.
const serviceIssuer = "https://kubernetes.default.svc.cluster.local"

// writeAPIServerFiles makes all keys once, so that a restarted API server is the same
// one to its clients.
func (c *Cluster) writeAPIServerFiles() error {
	authority, err := certificates.NewAuthority("embedded-cluster")
	if err != nil {
		return err
	}
	c.authority = authority
	serving, err := authority.Issue(certificates.Subject{
		CommonName: "kube-apiserver",
		Hosts:      []string{"127.0.0.1", "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"},
	})
	if err != nil {
		return err
	}
	// The front proxy's authority is one of its own: who holds a certificate of it may
	// say to an aggregated API server that it is anybody.
	frontProxy, err := certificates.NewAuthority("embedded-front-proxy")
	if err != nil {
		return err
	}
	proxyClient, err := frontProxy.Issue(certificates.Subject{CommonName: "front-proxy-client"})
	if err != nil {
		return err
	}
	signingKey, verifyingKey, err := certificates.NewSigningKey()
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{
		"ca.crt":             authority.CertificatePEM,
		"serving.crt":        serving.CertificatePEM,
		"serving.key":        serving.KeyPEM,
		"front-proxy-ca.crt": frontProxy.CertificatePEM,
		"proxy-client.crt":   proxyClient.CertificatePEM,
		"proxy-client.key":   proxyClient.KeyPEM,
		"accounts.key":       signingKey,
		"accounts.pub":       verifyingKey,
		"audit-policy.yaml":  []byte(auditPolicy),
	} {
		if err := writeFile(c.apiServerFile(name), content); err != nil {
			return fmt.Errorf("write files of the API server: %w", err)
		}
	}
	return nil
}

func (c *Cluster) apiServerFile(name string) string { return filepath.Join(c.Dir, "apiserver", name) }

func (c *Cluster) url() string { return "https://" + loopback(c.ports.apiServer) }

func (c *Cluster) startAPIServer(ctx context.Context) error {
	args := append([]string{
		"--etcd-servers=http://" + loopback(c.ports.etcd),
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", c.ports.apiServer),
		"--advertise-address=" + advertisedAddress,
		"--service-cluster-ip-range=10.96.0.0/16",
		"--authorization-mode=RBAC",
		"--client-ca-file=" + c.apiServerFile("ca.crt"),
		"--tls-cert-file=" + c.apiServerFile("serving.crt"),
		"--tls-private-key-file=" + c.apiServerFile("serving.key"),
		"--service-account-issuer=" + serviceIssuer,
		"--service-account-key-file=" + c.apiServerFile("accounts.pub"),
		"--service-account-signing-key-file=" + c.apiServerFile("accounts.key"),
		"--requestheader-client-ca-file=" + c.apiServerFile("front-proxy-ca.crt"),
		"--requestheader-allowed-names=front-proxy-client",
		"--requestheader-extra-headers-prefix=X-Remote-Extra-",
		"--requestheader-group-headers=X-Remote-Group",
		"--requestheader-username-headers=X-Remote-User",
		"--proxy-client-cert-file=" + c.apiServerFile("proxy-client.crt"),
		"--proxy-client-key-file=" + c.apiServerFile("proxy-client.key"),
		"--allow-privileged=true",
		"--audit-policy-file=" + c.apiServerFile("audit-policy.yaml"),
		"--audit-log-path=" + c.auditLog(),
		// A request is answered only once it is in the log: who counts misses none.
		"--audit-log-mode=blocking",
	}, c.options.APIServerFlags...)
	p, err := c.start(ctx, "kube-apiserver", nil, args...)
	if err != nil {
		return err
	}
	httpClient, err := rest.HTTPClientFor(c.Config)
	if err != nil {
		return fmt.Errorf("make a client of the API server: %w", err)
	}
	return p.awaitReady(ctx, apiServerTimeout, func(ctx context.Context) error {
		return getOK(ctx, httpClient, c.url()+"/readyz")
	})
}

// StopAPIServer ends the API server at once, as a crash would. What it had answered
// is in etcd.
func (c *Cluster) StopAPIServer() {
	if p := c.process("kube-apiserver"); p != nil {
		p.kill()
	}
}

// StartAPIServer starts the API server again after StopAPIServer, at the same address,
// and waits until it is ready, and passes requests for applications on again.
func (c *Cluster) StartAPIServer(ctx context.Context) error {
	if err := c.startAPIServer(ctx); err != nil {
		return err
	}
	return c.awaitApplications(ctx)
}

// RestartAPIServer ends the API server at once and waits until a new one is ready.
func (c *Cluster) RestartAPIServer(ctx context.Context) error {
	c.StopAPIServer()
	return c.StartAPIServer(ctx)
}
