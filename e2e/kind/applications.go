package kind

import (
	"context"
	"encoding/base64"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/certificates"
	"github.com/cozystack/gitops-operator/e2e/manifests"
	"github.com/cozystack/gitops-operator/e2e/standins/applicationsapi/access"
)

const (
	applicationsPort    = 443
	applicationsTimeout = time.Minute
)

// ServeApplications runs the stand-in for the platform's API server of applications as
// a pod, and waits until the cluster passes requests on to it. The kinds must be defined
// by then, and HelmReleases be served.
func (c *Cluster) ServeApplications(ctx context.Context) error {
	image, err := c.loadStandIn(ctx, "applicationsapi")
	if err != nil {
		return err
	}
	authority, err := certificates.NewAuthority("applications")
	if err != nil {
		return err
	}
	serving, err := authority.Issue(certificates.Subject{CommonName: access.Service, Hosts: []string{access.ServiceHost}})
	if err != nil {
		return err
	}
	writer, err := c.Client()
	if err != nil {
		return err
	}
	rights, err := access.Objects()
	if err != nil {
		return err
	}
	if err := manifests.Apply(ctx, writer, rights...); err != nil {
		return err
	}
	started := time.Now().UTC().Format(time.RFC3339Nano)
	text, err := render("applications-api.yaml", map[string]string{
		"Image": image, "Started": started,
		"Certificate": base64.StdEncoding.EncodeToString(serving.CertificatePEM),
		"Key":         base64.StdEncoding.EncodeToString(serving.KeyPEM),
	})
	if err != nil {
		return err
	}
	if err := c.Apply(ctx, text); err != nil {
		return err
	}
	if err := c.AwaitDeployment(ctx, access.Namespace, access.Service); err != nil {
		return err
	}
	registration := access.Registration(applicationsPort, authority.CertificatePEM, started)
	if err := manifests.Apply(ctx, writer, registration); err != nil {
		return err
	}
	return awaitAvailable(ctx, writer, registration)
}

// awaitAvailable waits until the API server can reach one that is registered with it.
func awaitAvailable(ctx context.Context, reader client.Reader, registration client.Object) error {
	service := &unstructured.Unstructured{}
	service.SetGroupVersionKind(registration.GetObjectKind().GroupVersionKind())
	var seen []any
	err := wait.PollUntilContextTimeout(ctx, pollInterval, applicationsTimeout, true, func(ctx context.Context) (bool, error) {
		if err := reader.Get(ctx, client.ObjectKeyFromObject(registration), service); err != nil {
			return false, err
		}
		var err error
		if seen, _, err = unstructured.NestedSlice(service.Object, "status", "conditions"); err != nil {
			return false, err
		}
		for _, condition := range seen {
			if fields, ok := condition.(map[string]any); ok && fields["type"] == "Available" {
				return fields["status"] == "True", nil
			}
		}
		return false, nil
	})
	if err != nil {
		return fmt.Errorf("await APIService %s: %w; its conditions: %v", registration.GetName(), err, seen)
	}
	return nil
}
