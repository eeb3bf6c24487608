// Package definitions holds the CustomResourceDefinitions of Package and PackageSource.
package definitions

import (
	"context"
	_ "embed"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/manifests"
)

// fieldOwner is who owns the definitions on the platform.
const fieldOwner = client.FieldOwner("cozystack-operator")

//go:embed crds.yaml
var crds []byte

// Objects are the definitions.
func Objects() ([]client.Object, error) {
	decoded, err := manifests.Decode(crds)
	if err != nil {
		return nil, fmt.Errorf("read the CRDs of packages: %w", err)
	}
	var objects []client.Object
	for _, object := range decoded {
		objects = append(objects, object)
	}
	return objects, nil
}

// Install applies the definitions by force, whatever others have made of them, and waits
// until their kinds are served.
func Install(ctx context.Context, c client.Client) error {
	objects, err := Objects()
	if err != nil {
		return err
	}
	return manifests.ApplyAs(ctx, c, fieldOwner, objects...)
}
