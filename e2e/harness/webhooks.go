package harness

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/controllers/tenantgitops"
	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/manifests"
	"github.com/cozystack/gitops-operator/internal/certs"
	"github.com/cozystack/gitops-operator/internal/operator"
	"github.com/cozystack/gitops-operator/internal/webhook"
)

// Loopback is where the API server calls the operator's webhooks in the tests.
const Loopback = "127.0.0.1"

// CertificatesAccount is the service account that renews the webhooks' certificate.
const CertificatesAccount = "gitops-operator-certificates"

// webhookInterval is how often an operator in a test looks at its certificates.
const webhookInterval = 250 * time.Millisecond

// InstallWebhooks lays in config/webhook, with configurations that lead to the
// cluster's WebhookPort; after RemoveWebhooks, it is what restores them. An operator
// that runs puts its authority into them within moments: see Operator.AwaitReady.
func InstallWebhooks(ctx context.Context, c *embedded.Cluster, root string) error {
	objects, err := manifests.DecodePaths(root + "/config/webhook")
	if err != nil {
		return err
	}
	// There is no node: what the Deployment would run, an Operator runs.
	objects = slices.DeleteFunc(objects, func(object client.Object) bool {
		return object.GetObjectKind().GroupVersionKind().Kind == "Deployment"
	})
	for _, object := range objects {
		if !isWebhookConfiguration(object) {
			continue
		}
		if err := callOnLoopback(object.(*unstructured.Unstructured), c.WebhookPort); err != nil {
			return err
		}
	}
	return manifests.Apply(ctx, c.Client, objects...)
}

// RemoveWebhooks takes the webhook configurations out of a cluster, so that nobody is
// called: for what holds without webhooks, and for tests that run no operator. An
// operator that is started afterwards serves none.
func RemoveWebhooks(ctx context.Context, c *embedded.Cluster, root string) error {
	return remove(ctx, c, root+"/config/webhook", isWebhookConfiguration)
}

// InstallPolicies lays in config/policies; after RemovePolicies, it is what restores
// them. The API server begins to heed them some moments later.
func InstallPolicies(ctx context.Context, c *embedded.Cluster, root string) error {
	return manifests.ApplyPaths(ctx, c.Client, root+"/config/policies")
}

// RemovePolicies takes the admission policies out of a cluster: for what holds without
// them. The API server ceases to heed them some moments later.
func RemovePolicies(ctx context.Context, c *embedded.Cluster, root string) error {
	return remove(ctx, c, root+"/config/policies", func(object client.Object) bool {
		return strings.HasPrefix(object.GetObjectKind().GroupVersionKind().Kind, "ValidatingAdmissionPolicy")
	})
}

// remove deletes the objects of a folder that are chosen.
func remove(ctx context.Context, c *embedded.Cluster, folder string, chosen func(client.Object) bool) error {
	objects, err := manifests.DecodePaths(folder)
	if err != nil {
		return err
	}
	for _, object := range objects {
		if !chosen(object) {
			continue
		}
		if err := client.IgnoreNotFound(c.Client.Delete(ctx, object)); err != nil {
			return fmt.Errorf("remove %s %s: %w", object.GetObjectKind().GroupVersionKind().Kind, object.GetName(), err)
		}
	}
	return nil
}

// isWebhookConfiguration holds for mutating and for validating ones.
func isWebhookConfiguration(object client.Object) bool {
	return strings.HasSuffix(object.GetObjectKind().GroupVersionKind().Kind, "WebhookConfiguration")
}

// callOnLoopback replaces the Service of each webhook by an address.
func callOnLoopback(configuration *unstructured.Unstructured, port int) error {
	webhooks, _, err := unstructured.NestedSlice(configuration.Object, "webhooks")
	if err != nil {
		return fmt.Errorf("read the webhooks of %s: %w", configuration.GetName(), err)
	}
	for i := range webhooks {
		path, found, err := unstructured.NestedString(webhooks[i].(map[string]any), "clientConfig", "service", "path")
		if err != nil || !found {
			return fmt.Errorf("read webhook %d of %s: it has no Service with a path: %w", i, configuration.GetName(), err)
		}
		address := "https://" + net.JoinHostPort(Loopback, strconv.Itoa(port)) + path
		webhooks[i].(map[string]any)["clientConfig"] = map[string]any{"url": address}
	}
	if err := unstructured.SetNestedSlice(configuration.Object, webhooks, "webhooks"); err != nil {
		return fmt.Errorf("change the webhooks of %s: %w", configuration.GetName(), err)
	}
	return nil
}

// webhookOptions has an operator listen where the API server calls. A second operator
// beside the first one listens where nobody calls. It has none after RemoveWebhooks.
func webhookOptions(ctx context.Context, c *embedded.Cluster, config tenantgitops.Config) (*webhook.Options, error) {
	switch err := c.Client.Get(ctx, client.ObjectKey{Name: webhook.ConfigurationName}, &admissionregistrationv1.MutatingWebhookConfiguration{}); {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // no webhooks is what nil means to the operator
	case err != nil:
		return nil, fmt.Errorf("look for the webhook configuration: %w", err)
	}
	port := c.WebhookPort
	listener, err := net.Listen("tcp", net.JoinHostPort(Loopback, strconv.Itoa(port)))
	if err == nil {
		err = listener.Close()
	} else {
		port, err = embedded.FreePort()
	}
	if err != nil {
		return nil, fmt.Errorf("find a port for the webhooks: %w", err)
	}
	return &webhook.Options{
		Host: Loopback, Port: port, CalledBy: Loopback,
		Namespace: config.Stamp.OperatorNamespace, Tenancy: config.Tenancy, Interval: webhookInterval,
	}, nil
}

// NewRotation is what "gitops-operator certificates" runs, as its own account.
func NewRotation(ctx context.Context, c *embedded.Cluster, config tenantgitops.Config) (*certs.Rotation, error) {
	account, err := c.ServiceAccountConfig(ctx, config.Stamp.OperatorNamespace, CertificatesAccount)
	if err != nil {
		return nil, err
	}
	own, err := client.New(account, client.Options{Scheme: operator.Scheme()})
	if err != nil {
		return nil, fmt.Errorf("make a client of the rotation of certificates: %w", err)
	}
	return &certs.Rotation{
		Client: own, Secret: client.ObjectKey{Namespace: config.Stamp.OperatorNamespace, Name: webhook.CertificatesSecret},
		Configurations: webhook.Configurations(), Hosts: []string{Loopback},
		Lives: certs.DefaultLives(), Interval: webhookInterval,
	}, nil
}
