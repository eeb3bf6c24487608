package customizer

import (
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// servedTTL bounds how often the API server is asked what it serves.
const servedTTL = 15 * time.Second

// servedResources is what the cluster serves, as of a moment ago.
type servedResources struct {
	discovery discovery.DiscoveryInterface

	mu        sync.Mutex
	asked     time.Time
	resources map[schema.GroupResource]bool
	// unknown are groups whose API server does not answer.
	unknown map[string]bool
}

// has says whether a resource is served, in any version. One of a group whose API server is away
// may well be.
func (s *servedResources) has(group, resource string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if time.Since(s.asked) > servedTTL {
		if err := s.ask(); err != nil {
			return false, err
		}
	}
	return s.unknown[group] || s.resources[schema.GroupResource{Group: group, Resource: resource}], nil
}

func (s *servedResources) ask() error {
	_, lists, err := s.discovery.ServerGroupsAndResources()
	unknown := map[string]bool{}
	if groups, partly := discovery.GroupDiscoveryFailedErrorGroups(err); partly {
		for version := range groups {
			unknown[version.Group] = true
		}
	} else if err != nil {
		return fmt.Errorf("cannot list what the cluster serves: %w", err)
	}
	resources := map[schema.GroupResource]bool{}
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return fmt.Errorf("cannot read what the cluster serves: %w", err)
		}
		for i := range list.APIResources {
			resources[schema.GroupResource{Group: version.Group, Resource: list.APIResources[i].Name}] = true
		}
	}
	s.asked, s.resources, s.unknown = time.Now(), resources, unknown
	return nil
}
