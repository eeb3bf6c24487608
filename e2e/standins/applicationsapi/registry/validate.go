package registry

import (
	"fmt"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// longestRelease is what Helm takes.
	longestRelease = 53
	longestTenant  = validation.DNS1123LabelMaxLength

	tenantKind    = "Tenant"
	rootNamespace = "tenant-root"
)

var tenantName = regexp.MustCompile(`^[a-z][a-z0-9]*$`)

// validateNew says why an application cannot be created. The name is checked then only.
func (a *Applications) validateNew(application *unstructured.Unstructured) error {
	name, path := application.GetName(), field.NewPath("metadata", "name")
	var problems field.ErrorList
	for _, problem := range validation.IsDNS1035Label(name) {
		problems = append(problems, field.Invalid(path, name, problem))
	}
	if release := a.kind.ReleaseName(name); len(release) > longestRelease {
		problems = append(problems, field.Invalid(path, name, fmt.Sprintf(
			"the Helm release %s would have %d characters: shorten the name to at most %d",
			release, len(release), longestRelease-len(a.kind.ReleasePrefix))))
	}
	if a.kind.Kind == tenantKind {
		problems = append(problems, validateTenant(application, path)...)
	}
	if len(problems) > 0 {
		return apierrors.NewInvalid(a.kind.GroupVersionKind().GroupKind(), name, problems)
	}
	return a.validateSpec(application)
}

func validateTenant(application *unstructured.Unstructured, path *field.Path) field.ErrorList {
	name := application.GetName()
	if !tenantName.MatchString(name) {
		return field.ErrorList{field.Invalid(path, name, "a tenant's name is of lower case letters and digits, and begins with a letter")}
	}
	parent := application.GetNamespace()
	if parent == rootNamespace {
		parent = "tenant"
	}
	if namespace := parent + "-" + name; len(namespace) > longestTenant {
		return field.ErrorList{field.Invalid(path, name, fmt.Sprintf("the namespace %s would have more than %d characters", namespace, longestTenant))}
	}
	return nil
}

// validateSpec refuses the keys that the platform puts into values itself. What the
// schema says is checked by the chart.
func (a *Applications) validateSpec(application *unstructured.Unstructured) error {
	spec, _ := application.Object["spec"].(map[string]any)
	for key := range spec {
		if strings.HasPrefix(key, "_") {
			return apierrors.NewBadRequest(fmt.Sprintf("spec.%s: keys that begin with an underscore are the platform's own: remove it", key))
		}
	}
	return nil
}
