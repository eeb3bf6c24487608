// Package access holds the identity of the API server of the applications in a cluster,
// its rights, and how it is registered there.
package access

import (
	_ "embed"
	"encoding/base64"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/manifests"
)

const (
	// Namespace is where the server lives.
	Namespace = "cozy-system"
	// Account is who it is there.
	Account = "cozystack-api"
	// Service is what the cluster's API server calls.
	Service = "cozystack-api"
	// ServiceHost is the Service's name in a certificate.
	ServiceHost = Service + "." + Namespace + ".svc"
	// APIService is the name of the registration.
	APIService = "v1alpha1.apps.cozystack.io"
)

//go:embed access.yaml
var access []byte

// Objects are the account and its rights.
func Objects() ([]client.Object, error) {
	decoded, err := manifests.Decode(access)
	if err != nil {
		return nil, fmt.Errorf("read the rights of the applications' API server: %w", err)
	}
	var objects []client.Object
	for _, object := range decoded {
		objects = append(objects, object)
	}
	return objects, nil
}

// StartAnnotation tells one start of the server from the next: a registration that
// changes has the cluster's API server ask at once what is served.
const StartAnnotation = "applicationsapi/start"

// Registration has the cluster's API server pass requests for applications on to a port
// of the Service, whose certificate is of the authority given in PEM. start tells this
// start of the server from others.
func Registration(port int, authorityPEM []byte, start string) client.Object {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1",
		"kind":       "APIService",
		"metadata":   map[string]any{"name": APIService, "annotations": map[string]any{StartAnnotation: start}},
		"spec": map[string]any{
			"group": "apps.cozystack.io", "version": "v1alpha1",
			"groupPriorityMinimum": int64(1000), "versionPriority": int64(15),
			"caBundle": base64.StdEncoding.EncodeToString(authorityPEM),
			"service":  map[string]any{"namespace": Namespace, "name": Service, "port": int64(port)},
		},
	}}
}
