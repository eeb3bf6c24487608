package override

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/packages"
)

// Read reads what the answers for the releases of one Package are made of; what does not
// exist is nil. An error says what cannot be read.
func Read(ctx context.Context, from client.Reader, name string) (Snapshot, error) {
	var snapshot Snapshot
	pkg, source, values := &packages.Package{}, &packages.PackageSource{}, &cozyv1.PackageValues{}
	for _, part := range []struct {
		kind   string
		object client.Object
		found  func()
	}{
		{"Package", pkg, func() { snapshot.Package = pkg }},
		{"PackageSource", source, func() { snapshot.Source = source }},
		{cozyv1.PackageValuesKind, values, func() { snapshot.Values = values }},
	} {
		err := from.Get(ctx, client.ObjectKey{Name: name}, part.object)
		switch {
		case err == nil:
			part.found()
		case !apierrors.IsNotFound(err):
			return Snapshot{}, fmt.Errorf("cannot read %s %s: %w", part.kind, name, err)
		}
	}
	return snapshot, nil
}
