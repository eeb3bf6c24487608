package embedded

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"time"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"github.com/cozystack/gitops-operator/e2e/certificates"
	"github.com/cozystack/gitops-operator/e2e/manifests"
	"github.com/cozystack/gitops-operator/e2e/programs"
	"github.com/cozystack/gitops-operator/e2e/standins/applicationsapi/access"
	"github.com/cozystack/gitops-operator/e2e/standins/applicationsapi/writes"
)

const (
	applicationsServer  = "applicationsapi"
	applicationsFolder  = "e2e/standins/applicationsapi"
	applicationsTimeout = time.Minute
	applicationsPoll    = 50 * time.Millisecond

	applicationsPath    = "/apis/apps.cozystack.io/v1alpha1"
	aggregatedDiscovery = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

	helmReleaseGroup   = "helm-controller"
	helmReleasePackage = "github.com/fluxcd/helm-controller/api/v2"
)

// HelmReleaseCRDs is the folder with the CRD of HelmReleases, for the CRDPaths of a
// cluster that is to serve them in either mode.
func HelmReleaseCRDs(ctx context.Context) (string, error) {
	return programs.CRDs(ctx, helmReleaseGroup, helmReleasePackage)
}

// Applications is how this cluster serves applications.
func (c *Cluster) Applications() ApplicationsMode { return c.options.Applications }

// ServeApplications starts the API server of the applications, or starts it again so
// that it reads the ApplicationDefinitions anew, and waits until the cluster passes
// requests on to it. There must be a definition. Where applications are custom
// resources there is nothing to do.
func (c *Cluster) ServeApplications(ctx context.Context) error {
	if c.options.Applications != AggregatedApplications {
		return nil
	}
	c.StopApplications()
	if c.ports.applications == 0 {
		if err := c.prepareApplications(ctx); err != nil {
			return fmt.Errorf("prepare serving applications: %w", err)
		}
	}
	return c.startApplications(ctx)
}

// StopApplications ends the API server of the applications at once, as a crash would.
// The others are told that it is unavailable.
func (c *Cluster) StopApplications() {
	if p := c.process(applicationsServer); p != nil {
		p.kill()
	}
}

// prepareApplications lays in all that the server needs and that outlives it.
func (c *Cluster) prepareApplications(ctx context.Context) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: access.Namespace, Labels: map[string]string{"cozystack.io/system": "true"},
	}}
	objects, err := access.Objects()
	if err != nil {
		return err
	}
	if err := manifests.Apply(ctx, c.Client, namespace); err != nil {
		return err
	}
	if err := manifests.Apply(ctx, c.Client, objects...); err != nil {
		return err
	}
	token, err := c.mintToken(ctx, access.Namespace, access.Account, nil)
	if err != nil {
		return err
	}
	if _, err := c.writeTokenKubeconfig(c.applicationsDir(), access.Namespace, token.Token); err != nil {
		return err
	}
	serving, err := c.authority.Issue(certificates.Subject{
		CommonName: applicationsServer, Hosts: []string{access.ServiceHost, "localhost", "127.0.0.1"},
	})
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{"serving.crt": serving.CertificatePEM, "serving.key": serving.KeyPEM} {
		if err := writeFile(filepath.Join(c.applicationsDir(), name), content); err != nil {
			return fmt.Errorf("write certificate: %w", err)
		}
	}
	port, err := FreePort()
	if err != nil {
		return err
	}
	c.ports.applications = port
	return nil
}

func (c *Cluster) applicationsDir() string { return filepath.Join(c.Dir, applicationsServer) }

func (c *Cluster) startApplications(ctx context.Context) error {
	path, err := programs.Own(ctx, applicationsFolder)
	if err != nil {
		return err
	}
	dir := c.applicationsDir()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	p, err := c.startProgram(applicationsServer, path, nil,
		"--kubeconfig="+kubeconfig, "--authentication-kubeconfig="+kubeconfig, "--authorization-kubeconfig="+kubeconfig,
		"--bind-address=127.0.0.1", portFlag("secure-port", c.ports.applications),
		"--tls-cert-file="+filepath.Join(dir, "serving.crt"), "--tls-private-key-file="+filepath.Join(dir, "serving.key"),
	)
	if err != nil {
		return err
	}
	own, err := c.applicationsClient()
	if err != nil {
		return err
	}
	err = p.awaitReady(ctx, applicationsTimeout, func(ctx context.Context) error {
		return getOK(ctx, own, c.applicationsURL()+"/readyz")
	})
	if err != nil {
		return err
	}
	// Endpoints may not be loopback; the name of an external host may.
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: access.Namespace, Name: access.Service},
		Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"},
	}
	start := time.Now().Format(time.RFC3339Nano)
	if err := manifests.Apply(ctx, c.Client, service, access.Registration(c.ports.applications, c.authority.CertificatePEM, start)); err != nil {
		return err
	}
	return c.awaitApplications(ctx)
}

// awaitApplications waits until the API server passes requests on to the server of the
// applications, if that runs, and tells clients what it serves now.
func (c *Cluster) awaitApplications(ctx context.Context) error {
	if p := c.process(applicationsServer); p == nil || !p.running() {
		return nil
	}
	admin, err := rest.HTTPClientFor(c.Config)
	if err != nil {
		return fmt.Errorf("make a client of the API server: %w", err)
	}
	own, err := c.applicationsClient()
	if err != nil {
		return err
	}
	var last error
	err = wait.PollUntilContextTimeout(ctx, applicationsPoll, applicationsTimeout, true, func(ctx context.Context) (bool, error) {
		served := metav1.APIResourceList{}
		// A server that has just started does not know yet whom to believe.
		if last = getJSON(ctx, own, c.applicationsURL()+applicationsPath, &served); last == nil {
			last = errors.Join(getOK(ctx, admin, c.url()+applicationsPath), discovered(ctx, admin, c.url(), served))
		}
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait until applications are served: %w: %w", err, last)
	}
	return nil
}

// discovered is nil once clients are told of exactly the kinds that are served.
func discovered(ctx context.Context, client *http.Client, url string, served metav1.APIResourceList) error {
	told := apidiscoveryv2.APIGroupDiscoveryList{}
	if err := getJSONAs(ctx, client, url+"/apis", aggregatedDiscovery, &told); err != nil {
		return err
	}
	var kinds, want []string
	for _, group := range told.Items {
		for _, version := range group.Versions {
			if group.Name+"/"+version.Version != served.GroupVersion || version.Freshness != apidiscoveryv2.DiscoveryFreshnessCurrent {
				continue
			}
			for _, resource := range version.Resources {
				kinds = append(kinds, resource.Resource)
			}
		}
	}
	for _, resource := range served.APIResources {
		want = append(want, resource.Name)
	}
	slices.Sort(kinds)
	slices.Sort(want)
	if !slices.Equal(kinds, want) {
		return fmt.Errorf("clients are told of applications %v, not of %v", kinds, want)
	}
	return nil
}

func (c *Cluster) applicationsURL() string { return "https://" + loopback(c.ports.applications) }

func (c *Cluster) applicationsClient() (*http.Client, error) {
	config := rest.CopyConfig(c.Config)
	config.Host = c.applicationsURL()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("make a client of the applications' API server: %w", err)
	}
	return client, nil
}

// ApplicationWrites are the counts of applications' writes since the server of the
// applications started: those that changed something in storage, and those that did not.
func (c *Cluster) ApplicationWrites(ctx context.Context) ([]writes.Count, error) {
	client, err := c.applicationsClient()
	if err != nil {
		return nil, err
	}
	var counts []writes.Count
	if err := getJSON(ctx, client, c.applicationsURL()+writes.Path, &counts); err != nil {
		return nil, fmt.Errorf("read the counts of writes: %w", err)
	}
	return counts, nil
}

func getJSON(ctx context.Context, client *http.Client, url string, into any) error {
	return getJSONAs(ctx, client, url, "application/json", into)
}

func getJSONAs(ctx context.Context, client *http.Client, url, accept string, into any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", accept)
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, response.Status)
	}
	return json.NewDecoder(response.Body).Decode(into)
}
