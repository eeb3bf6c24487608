package webhook

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/certs"
	"github.com/cozystack/gitops-operator/internal/platform"
	"github.com/cozystack/gitops-operator/internal/tenancy"
)

const (
	// ConfigurationName is the MutatingWebhookConfiguration of the operator, and its
	// ValidatingWebhookConfiguration.
	ConfigurationName = "gitops-operator"
	// ServiceName is the Service by which the API server calls.
	ServiceName = "gitops-operator-webhook"
	// CertificatesSecret is the Secret that replicas share certificates by.
	CertificatesSecret = "gitops-operator-webhook-certificates"
	// KustomizationsPath is where Kustomizations are answered for.
	KustomizationsPath = "/mutate-kustomization"
	// AppliedPath is where what git applies to applications is answered for.
	AppliedPath = "/mutate-application"
	// ApplicationsPath is where changes of applications that git manages are answered for.
	ApplicationsPath = "/validate-application"
	// SourcesPath is where new sources are answered for.
	SourcesPath = "/validate-source"
	// ReleasesPath is where HelmReleases whose values are overridden are answered for.
	ReleasesPath = "/mutate-release"
	// PackageValuesPath is where PackageValues are answered for.
	PackageValuesPath = "/validate-package-values"
)

// Configurations are the operator's webhook configurations, by name.
func Configurations() []client.Object {
	named := metav1.ObjectMeta{Name: ConfigurationName}
	return []client.Object{
		&admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: named},
		&admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: named},
	}
}

// Host is the name that the API server calls the webhooks by.
func Host(namespace string) string {
	return ServiceName + "." + namespace + ".svc"
}

// Options of the webhooks.
type Options struct {
	// Host and Port to listen on; no host for all.
	Host string
	Port int
	// CertificatesDir holds tls.crt and tls.key, which somebody else renews, and
	// puts the authority into the webhook configurations. Empty for the certificate in
	// the Secret, which a certs.Rotation renews.
	CertificatesDir string
	// Namespace of the operator, and the service account that it runs as.
	Namespace string
	Account   string
	// CalledBy is the name or address that the API server calls; by default, the Service's.
	CalledBy string
	// Interval at which the certificate is looked at.
	Interval time.Duration
	// Tenancy says which namespaces are tenants'.
	Tenancy tenancy.Model
}

// operator is the user that the operator is.
func (o Options) operator() string {
	return "system:serviceaccount:" + o.Namespace + ":" + o.Account
}

var namespaceKind = corev1.SchemeGroupVersion.WithKind("Namespace")

type certificates interface {
	GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error)
	Start(context.Context) error
	NeedLeaderElection() bool
}

func (o Options) certificates(trust certs.Trust) (certificates, error) {
	if o.CertificatesDir != "" {
		watcher, err := certwatcher.New(filepath.Join(o.CertificatesDir, certs.ServingCertificate), filepath.Join(o.CertificatesDir, certs.ServingKey))
		if err != nil {
			return nil, fmt.Errorf("cannot read the webhook's certificate: %w", err)
		}
		return watcher, nil
	}
	return &certs.Shared{
		Secret: client.ObjectKey{Namespace: o.Namespace, Name: CertificatesSecret},
		Trust:  trust, Interval: o.Interval,
	}, nil
}

// SetupWithManager serves the webhooks from every replica, and makes the manager
// ready only when the API server trusts what they serve with.
func SetupWithManager(mgr ctrl.Manager, options Options) error {
	trust := certs.Trust{Reader: mgr.GetAPIReader(), Configurations: Configurations(), Host: options.CalledBy}
	if trust.Host == "" {
		trust.Host = Host(options.Namespace)
	}
	serving, err := options.certificates(trust)
	if err != nil {
		return err
	}
	if err := mgr.Add(serving); err != nil {
		return fmt.Errorf("cannot add the webhook's certificates: %w", err)
	}
	// Controllers start their watches in the leader only; the webhook reads everywhere.
	namespaces := &metav1.PartialObjectMetadata{}
	namespaces.SetGroupVersionKind(namespaceKind)
	for _, read := range []client.Object{&gitopsv1.TenantGitOps{}, &gitopsv1.GitOpsParameters{}, namespaces, platform.APIService()} {
		if _, err := mgr.GetCache().GetInformer(context.Background(), read, cache.BlockUntilSynced(false)); err != nil {
			return fmt.Errorf("cannot watch for the webhook: %w", err)
		}
	}
	server := webhook.NewServer(webhook.Options{
		Host: options.Host, Port: options.Port,
		TLSOpts: []func(*tls.Config){func(config *tls.Config) {
			config.MinVersion = tls.VersionTLS13
			config.GetCertificate = serving.GetCertificate
		}},
	})
	tenants := facts{cached: mgr.GetClient(), uncached: mgr.GetAPIReader(), tenancy: options.Tenancy}
	server.Register(KustomizationsPath, &webhook.Admission{Handler: &kustomizations{facts: tenants, operator: options.operator()}})
	server.Register(AppliedPath, &webhook.Admission{Handler: &applied{kinds: &applicationKinds{cached: mgr.GetCache(), uncached: mgr.GetAPIReader()}}})
	server.Register(ApplicationsPath, &webhook.Admission{Handler: &applications{facts: tenants}})
	server.Register(SourcesPath, &webhook.Admission{Handler: newSources(tenants, options.operator())})
	server.Register(ReleasesPath, &webhook.Admission{Handler: &releases{uncached: mgr.GetAPIReader(), operator: options.operator()}})
	server.Register(PackageValuesPath, &webhook.Admission{Handler: packageValues{}})
	if err := mgr.Add(server); err != nil {
		return fmt.Errorf("cannot add the webhook server: %w", err)
	}
	if err := mgr.AddReadyzCheck("webhook", server.StartedChecker()); err != nil {
		return fmt.Errorf("cannot add the webhook's readiness probe: %w", err)
	}
	if err := mgr.AddReadyzCheck("webhook-trusted", trusted(trust, serving)); err != nil {
		return fmt.Errorf("cannot add the webhook's readiness probe: %w", err)
	}
	return nil
}

// trusted is ready when each bundle of the live configurations covers the certificate
// in use. Where it could not look, an API server that is busy or away would take all
// replicas out at once: what was seen last stands.
func trusted(trust certs.Trust, serving certificates) func(*http.Request) error {
	var wasTrusted atomic.Bool
	return func(request *http.Request) error {
		certificate, err := serving.GetCertificate(nil)
		if err != nil {
			return err
		}
		err = trust.Check(request.Context(), certificate)
		if certs.IsUnread(err) && wasTrusted.Load() {
			return nil
		}
		wasTrusted.Store(err == nil)
		return err
	}
}
