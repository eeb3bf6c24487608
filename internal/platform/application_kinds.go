package platform

import (
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	// TenantAdminRole is the platform's ClusterRole for the admins of a tenant.
	TenantAdminRole = "cozy:tenant:admin"
	// applicationsGroup is the API group of the managed applications.
	applicationsGroup = "apps.cozystack.io"
	// gitopsApplication is the plural of the catalog app that enables GitOps. Git
	// must not be able to change who and what git is.
	gitopsApplication = "gitopses"
)

// ApplicationKinds are the plural names of the kinds that git may write: those
// which the tenant's admin role lists, or, where the platform has no such role,
// those of the ApplicationDefinitions that are not for admins only; and those
// that the operator's configuration adds. The application that enables GitOps is
// never among them.
func ApplicationKinds(adminRole *rbacv1.ClusterRole, definitions []unstructured.Unstructured, extra []string) []string {
	var kinds []string
	if adminRole != nil {
		kinds = writableKinds(adminRole.Rules)
	} else {
		kinds = definedKinds(definitions)
	}
	kinds = append(kinds, extra...)
	kinds = slices.DeleteFunc(kinds, func(kind string) bool {
		return kind == "" || kind == gitopsApplication || strings.ContainsAny(kind, "*/")
	})
	return slices.Compact(slices.Sorted(slices.Values(kinds)))
}

// writableKinds lists what a role may create, update and delete. A rule for all
// kinds ("*") lists none: git gets only what somebody has named.
func writableKinds(rules []rbacv1.PolicyRule) []string {
	needed := []string{"create", "update", "delete"}
	granted := map[string]map[string]bool{}
	for _, rule := range rules {
		if !slices.Contains(rule.APIGroups, applicationsGroup) || len(rule.ResourceNames) > 0 {
			continue
		}
		for _, resource := range rule.Resources {
			if granted[resource] == nil {
				granted[resource] = map[string]bool{}
			}
			for _, verb := range rule.Verbs {
				granted[resource][verb] = true
			}
		}
	}
	var kinds []string
	for resource, verbs := range granted {
		all := true
		for _, verb := range needed {
			all = all && (verbs[verb] || verbs["*"])
		}
		if all {
			kinds = append(kinds, resource)
		}
	}
	return kinds
}

func definedKinds(definitions []unstructured.Unstructured) []string {
	var kinds []string
	for _, definition := range definitions {
		if edit, _, _ := unstructured.NestedString(definition.Object, "spec", "protection", "edit"); edit == "adminOnly" {
			continue
		}
		plural, _, _ := unstructured.NestedString(definition.Object, "spec", "application", "plural")
		kinds = append(kinds, plural)
	}
	return kinds
}
