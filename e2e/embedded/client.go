package embedded

import (
	"fmt"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Scheme returns a new scheme of Kubernetes' own kinds, CustomResourceDefinitions and
// the Flux kinds.
func Scheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, sourcev1.AddToScheme, kustomizev1.AddToScheme,
	} {
		utilruntime.Must(add(scheme))
	}
	return scheme
}

// NewClient makes an uncached admin's client; a nil scheme is the cluster's own.
func (c *Cluster) NewClient(scheme *runtime.Scheme) (client.Client, error) {
	return c.newClient(c.Config, scheme)
}

func (c *Cluster) newClient(config *rest.Config, scheme *runtime.Scheme) (client.Client, error) {
	if scheme == nil {
		scheme = c.options.Scheme
	}
	made, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("make a client of the embedded cluster: %w", err)
	}
	return made, nil
}
