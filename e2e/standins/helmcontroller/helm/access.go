// Package helm makes, changes and removes releases with the Helm library.
package helm

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// Access is how Helm reaches the cluster. All releases share what it knows of the
// cluster's kinds.
type Access struct {
	config    *rest.Config
	discovery discovery.CachedDiscoveryInterface
	mapper    meta.RESTMapper
}

// NewAccess makes the access of a connection.
func NewAccess(config *rest.Config) (*Access, error) {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("make Helm's access to the cluster: %w", err)
	}
	cached := memory.NewMemCacheClient(client)
	return &Access{config: config, discovery: cached, mapper: restmapper.NewDeferredDiscoveryRESTMapper(cached)}, nil
}

// getter is the access of one release: its namespace, and whom it acts as.
type getter struct {
	*Access
	namespace string
	user      string
}

func (g getter) ToRESTConfig() (*rest.Config, error) {
	config := rest.CopyConfig(g.config)
	config.Impersonate.UserName = g.user
	return config, nil
}

func (g getter) ToDiscoveryClient() (discovery.CachedDiscoveryInterface, error) {
	return g.discovery, nil
}

func (g getter) ToRESTMapper() (meta.RESTMapper, error) { return g.mapper, nil }

// ToRawKubeConfigLoader is asked for the namespace alone.
func (g getter) ToRawKubeConfigLoader() clientcmd.ClientConfig {
	overrides := &clientcmd.ConfigOverrides{Context: clientcmdapi.Context{Namespace: g.namespace}}
	return clientcmd.NewDefaultClientConfig(*clientcmdapi.NewConfig(), overrides)
}
