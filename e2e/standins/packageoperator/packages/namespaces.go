package packages

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/standins/packageoperator/kinds"
)

const (
	// namespaceOwner is who applies namespaces.
	namespaceOwner = client.FieldOwner("cozystack-package-controller")
	// tenantPrefix begins the names of tenants' namespaces, which are not the system's.
	tenantPrefix = "tenant-"

	systemLabel      = "cozystack.io/system"
	podSecurityLabel = "pod-security.kubernetes.io/enforce"
	policyAnnotation = "helm.sh/resource-policy"
)

// applyNamespaces applies the namespaces that the releases of a variant are in.
func (r *Reconciler) applyNamespaces(ctx context.Context, pkg *kinds.Package, variant *kinds.Variant) error {
	privileged, err := r.privilegedNamespaces(ctx)
	if err != nil {
		return err
	}
	applied := map[string]bool{}
	for i := range variant.Components {
		component := &variant.Components[i]
		if !pkg.Installs(component) || applied[component.Install.Namespace] {
			continue
		}
		name := component.Install.Namespace
		if name == "" {
			return fmt.Errorf("apply the namespace of component %s: it names none", component.Name)
		}
		if err := r.Client.Apply(ctx, namespace(name, privileged[name]), namespaceOwner); err != nil {
			return fmt.Errorf("apply namespace %s: %w", name, err)
		}
		applied[name] = true
	}
	return nil
}

func namespace(name string, privileged bool) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion("v1")
	object.SetKind("Namespace")
	object.SetName(name)
	labels := map[string]string{}
	if !strings.HasPrefix(name, tenantPrefix) {
		labels[systemLabel] = "true"
	}
	if privileged {
		labels[podSecurityLabel] = "privileged"
	}
	object.SetLabels(labels)
	object.SetAnnotations(map[string]string{policyAnnotation: "keep"})
	return object
}

// privilegedNamespaces are those in which any Package has a privileged component.
func (r *Reconciler) privilegedNamespaces(ctx context.Context) (map[string]bool, error) {
	sources := &kinds.PackageSourceList{}
	if err := r.Client.List(ctx, sources); err != nil {
		return nil, fmt.Errorf("list PackageSources: %w", err)
	}
	privileged := map[string]bool{}
	for i := range sources.Items {
		pkg := &kinds.Package{}
		err := r.Client.Get(ctx, client.ObjectKey{Name: sources.Items[i].Name}, pkg)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read Package %s: %w", sources.Items[i].Name, err)
		}
		variant := sources.Items[i].Variant(pkg.Variant())
		if variant == nil {
			continue
		}
		for j := range variant.Components {
			if component := &variant.Components[j]; pkg.Installs(component) && component.Install.Privileged {
				privileged[component.Install.Namespace] = true
			}
		}
	}
	return privileged, nil
}
