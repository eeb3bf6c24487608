package main

import (
	"context"
	"fmt"
	"net/url"
	"os"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
)

const (
	tenantNamespace = "tenant-acme"
	authoritySecret = "git-ca.gitops" //nolint:gosec // G101: the name of a Secret, not what is in it
)

// manifest is the TenantGitOps that the demo applies; %s is the repository's URL.
const manifest = `# Switches GitOps on for the tenant acme.
apiVersion: gitops.cozystack.io/v1alpha1
kind: TenantGitOps
metadata:
  name: gitops
  namespace: tenant-acme
spec:
  sources:
  - name: apps
    git:
      url: %s
      ref:
        branch: main
      # The demo's git server has a certificate of its own making.
      secretRef:
        name: git-ca.gitops
      # The shortest there is, so that a commit shows up soon.
      interval: 30s
    path: ./
`

// parameters is what the demo's admin applies; %s is the host of the git server.
const parameters = `# The demo's git server is no host of the public DNS: sources may name it all the same.
apiVersion: gitops.cozystack.io/v1alpha1
kind: GitOpsParameters
metadata:
  name: gitops
spec:
  allowedHosts: [%s]
`

// allowGitHost does what a platform's admin does who has a git server inside.
func (d *demo) allowGitHost(ctx context.Context, s *stage) error {
	d.step("The platform's admin lets tenants use the demo's git server")
	source, err := url.Parse(s.sourceURL)
	if err != nil {
		return fmt.Errorf("read the repository's url: %w", err)
	}
	file := d.file("parameters.yaml")
	text := fmt.Sprintf(parameters, source.Hostname())
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the demo's files: %w", err)
	}
	d.say("$ cat %s\n%s", file, text)
	return d.runKubectl(ctx, s, "apply", "--server-side", "-f", file)
}

// fillRepository commits two applications.
func fillRepository(ctx context.Context, s *stage) error {
	_, err := s.repository.Commit(ctx, map[string]string{
		"db.yaml":    fixtures.Postgres("db", "10Gi"),
		"cache.yaml": fixtures.Redis("cache", 2),
	})
	return err
}

// enableGitOps does what the platform does for a new tenant, and then what a tenant
// does who wants a repository applied.
func (d *demo) enableGitOps(ctx context.Context, s *stage) error {
	d.step("Tenant acme, with a repository that has two applications in it")
	if err := fixtures.CreateTenant(ctx, s.client, tenantNamespace); err != nil {
		return err
	}
	if err := fillRepository(ctx, s); err != nil {
		return err
	}
	d.say("namespace %s; repository %s with db.yaml (a Postgres) and cache.yaml (a Redis)", tenantNamespace, s.sourceURL)

	d.step("The tenant switches GitOps on")
	authorityFile, manifestFile := d.file("git-ca.pem"), d.file("tenantgitops.yaml")
	text := fmt.Sprintf(manifest, s.sourceURL)
	for file, content := range map[string]string{authorityFile: s.authority, manifestFile: text} {
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			return fmt.Errorf("write the demo's files: %w", err)
		}
	}
	if err := d.runKubectl(ctx, s, "-n", tenantNamespace, "create", "secret", "generic", authoritySecret, "--from-file=ca.crt="+authorityFile); err != nil {
		return err
	}
	d.say("$ cat %s\n%s", manifestFile, text)
	return d.runKubectl(ctx, s, "apply", "-f", manifestFile)
}
