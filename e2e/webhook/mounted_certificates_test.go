package webhook_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cozystack/gitops-operator/e2e/certificates"
	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/certs"
	"github.com/cozystack/gitops-operator/internal/operator"
	"github.com/cozystack/gitops-operator/internal/webhook"
)

// mount puts a new certificate of an authority where a kubelet would: in a folder that
// a link leads to, so that both files change at once.
func mount(t *testing.T, folder string, authority *certificates.Authority) {
	t.Helper()
	pair, err := authority.Issue(certificates.Subject{CommonName: "webhook", Hosts: []string{harness.Loopback}})
	if err != nil {
		t.Fatal(err)
	}
	version := filepath.Join(folder, time.Now().Format("..2006_01_02_15_04_05.000000000"))
	if err := os.Mkdir(version, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{certs.ServingCertificate: pair.CertificatePEM, certs.ServingKey: pair.KeyPEM} {
		if err := os.WriteFile(filepath.Join(version, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
		link := filepath.Join(folder, name)
		if err := os.Symlink(filepath.Join("..data", name), link); err != nil && !os.IsExist(err) {
			t.Fatal(err)
		}
	}
	fresh := filepath.Join(folder, "..data_new")
	if err := os.Symlink(filepath.Base(version), fresh); err != nil {
		t.Fatal(err)
	}
	before, err := os.Readlink(filepath.Join(folder, "..data"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if err := os.Rename(fresh, filepath.Join(folder, "..data")); err != nil {
		t.Fatal(err)
	}
	if before == "" {
		return
	}
	if err := os.RemoveAll(filepath.Join(folder, before)); err != nil {
		t.Fatal(err)
	}
}

// TestMountedCertificates serves with what somebody else renews, and has put into the
// configuration, as cert-manager does; the operator writes neither.
func TestMountedCertificates(t *testing.T) {
	authority, err := certificates.NewAuthority("somebody else")
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := certificates.NewAuthority("a stranger")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	mount(t, folder, authority)
	setBundles(t, stranger.CertificatePEM)
	secretBefore, began := certificatesSecret(t.Context(), t).ResourceVersion, time.Now()
	o := startOperator(t, harness.Settings{WithoutRotation: true, Adjust: func(options *operator.Options) {
		options.Webhook.CertificatesDir = folder
	}})
	awaitNotTrusted(t, o, "certificate signed by unknown authority")

	setBundles(t, authority.CertificatePEM)
	o.AwaitReady(t)
	tenant := harness.NewTenant(t, cluster.Client, "tenant-mounted")
	user := tenantUser(t, tenant)
	switchOn(t, tenant)
	write := func(name string) {
		t.Helper()
		harness.Await(t, "a write", func(ctx context.Context) (bool, string) {
			err := user.Create(ctx, kustomization(tenant, name))
			return err == nil, fmt.Sprint(err)
		})
	}
	write("first")
	first, err := handshake(t.Context(), t, o, tenant)
	if err != nil {
		t.Fatal(err)
	}

	mount(t, folder, authority)
	harness.Await(t, "the renewed certificate", func(ctx context.Context) (bool, string) {
		shown, err := handshake(ctx, t, o, tenant)
		return err == nil && !shown.Equal(first), fmt.Sprint("still the first one, ", err)
	})
	o.AwaitReady(t)
	write("second")

	mount(t, folder, stranger)
	awaitNotTrusted(t, o, "certificate signed by unknown authority")
	if after := certificatesSecret(t.Context(), t).ResourceVersion; after != secretBefore {
		t.Error("the Secret of certificates that nobody uses has been written")
	}
	writes, err := cluster.Writes(began, func(w embedded.Write) bool {
		ours := strings.HasPrefix(w.User, "system:serviceaccount:"+harness.Config().Stamp.OperatorNamespace+":")
		return ours && (w.Name == webhook.CertificatesSecret || w.Group == "admissionregistration.k8s.io")
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, write := range writes {
		t.Errorf("what somebody else keeps was written: %s", write)
	}
}
