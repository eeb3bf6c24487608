package server

import (
	"context"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/registry/customresource/tableconvertor"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/endpoints/discovery"
	"k8s.io/apiserver/pkg/server"

	"github.com/cozystack/gitops-operator/e2e/standins/applicationsapi/catalog"
	"github.com/cozystack/gitops-operator/e2e/standins/applicationsapi/registry"
	"github.com/cozystack/gitops-operator/e2e/standins/applicationsapi/writes"
)

// Run serves, until the context ends, the kinds that are defined at its beginning.
func Run(ctx context.Context, o *Options) error {
	behind, err := o.connect()
	if err != nil {
		return err
	}
	kinds, err := catalog.Read(ctx, behind.dynamic)
	if err != nil {
		return err
	}
	config, err := o.configure(behind)
	if err != nil {
		return err
	}
	generic, err := config.Complete().New("applications", server.NewEmptyDelegate())
	if err != nil {
		return fmt.Errorf("make the server: %w", err)
	}
	if err := install(generic, config, kinds, behind); err != nil {
		return err
	}
	return generic.PrepareRun().RunWithContext(ctx)
}

// install has a server answer for the kinds.
func install(generic *server.GenericAPIServer, config *server.RecommendedConfig, kinds []*catalog.Kind, behind *cluster) error {
	table, err := tableconvertor.New(catalog.Columns)
	if err != nil {
		return fmt.Errorf("read the printed columns: %w", err)
	}
	counter := &writes.Counter{}
	answers := &requests{kinds: map[string]served{}, admission: config.AdmissionControl}
	for _, kind := range kinds {
		scope, err := newScope(kind, table, config.Authorization.Authorizer)
		if err != nil {
			return err
		}
		answers.kinds[kind.Plural] = served{scope: scope, storage: registry.New(kind, behind.dynamic, counter, table)}
	}
	resources := discovery.APIResourceListerFunc(func() []metav1.APIResource { return apiResources(kinds) })
	paths := generic.Handler.NonGoRestfulMux
	group, version := "/apis/"+catalog.GroupVersion.Group, "/apis/"+catalog.GroupVersion.String()
	paths.Handle(group, discovery.NewAPIGroupHandler(codecs, apiGroup()))
	paths.Handle(version, discovery.NewAPIVersionHandler(codecs, catalog.GroupVersion, resources))
	paths.HandlePrefix(version+"/", answers)
	paths.Handle(writes.Path, counter)
	generic.DiscoveryGroupManager.AddGroup(apiGroup())
	generic.AggregatedDiscoveryGroupManager.AddGroupVersion(catalog.GroupVersion.Group, apiVersion(kinds))
	return serveOpenAPI(kinds, paths)
}
