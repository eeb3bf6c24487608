// Package release turns applications into the HelmReleases they are stored as, and back.
// It is pure.
package release

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cozystack/gitops-operator/e2e/standins/applicationsapi/catalog"
)

// GroupVersionKind and Resource are those of the stored objects.
var (
	GroupVersionKind = schema.GroupVersionKind{Group: "helm.toolkit.fluxcd.io", Version: "v2", Kind: "HelmRelease"}
	Resource         = GroupVersionKind.GroupVersion().WithResource("helmreleases")
)

const (
	// metadataPrefix begins the keys by which labels and annotations of an application
	// are kept on its release.
	metadataPrefix = "apps.cozystack.io-"

	kindLabel  = "apps.cozystack.io/application.kind"
	groupLabel = "apps.cozystack.io/application.group"
	nameLabel  = "apps.cozystack.io/application.name"
	// shardLabel says which helm-controller reconciles a release. It is the only thing
	// of others that outlives an update.
	shardLabel = "sharding.fluxcd.io/key"

	// valuesSecret is the only source of values beside the application's own.
	valuesSecret = "cozystack-values"
)

// identity are the labels by which the release of an application is known.
func identity(kind *catalog.Kind, name string) map[string]string {
	return map[string]string{kindLabel: kind.Kind, groupLabel: catalog.GroupVersion.Group, nameLabel: name}
}

// Of says whether a release is that of an application of the kind. Releases of kinds
// without a prefix can have equal names.
func Of(kind *catalog.Kind, labels map[string]string) bool {
	return labels[kindLabel] == kind.Kind && labels[groupLabel] == catalog.GroupVersion.Group
}

// prefixed returns entries as they are kept on the release.
func prefixed(entries map[string]string) map[string]string {
	kept := make(map[string]string, len(entries))
	for key, value := range entries {
		kept[metadataPrefix+key] = value
	}
	return kept
}

// unprefixed returns the entries of a release that belong to the application.
func unprefixed(kept map[string]string) map[string]string {
	var entries map[string]string
	for key, value := range kept {
		own, found := strings.CutPrefix(key, metadataPrefix)
		if !found {
			continue
		}
		if entries == nil {
			entries = map[string]string{}
		}
		entries[own] = value
	}
	return entries
}
