package customizer

import (
	"fmt"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
)

// GrantableLabel marks, with the value "true", a ClusterRole of an admin whose rules the
// operator is given, so that it can grant them as extra rules.
const GrantableLabel = "gitops.cozystack.io/grantable-to-customizers"

// notHeld is how an API server refuses to let somebody grant what they do not have.
const notHeld = "attempting to grant RBAC permissions not currently held:"

// NotHeld says whether an error of the API server is that the operator does not hold what it is
// to grant, and which rules that are.
func NotHeld(err error) (rules string, ok bool) {
	if err == nil {
		return "", false
	}
	_, rules, ok = strings.Cut(err.Error(), notHeld)
	return strings.Join(strings.Fields(rules), " "), ok
}

// MessageNotHeld says it with the mend.
func MessageNotHeld(rules string) string {
	return fmt.Sprintf("spec.rbac.extraRules: the operator can grant only what it has been given, and lacks %s: create a ClusterRole with these rules and the label %s=true", rules, GrantableLabel)
}

// Served says whether a cluster serves a resource of a group, without its subresource.
type Served func(group, resource string) (bool, error)

// Unresolved are the resources of the rules that the cluster does not serve, as
// <resource>.<group>, each once.
func Unresolved(rules []rbacv1.PolicyRule, served Served) ([]string, error) {
	var unresolved []string
	seen := map[string]bool{}
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				resource, _, _ = strings.Cut(resource, "/")
				name := resource
				if group != "" {
					name += "." + group
				}
				if seen[name] {
					continue
				}
				seen[name] = true
				is, err := served(group, resource)
				if err != nil {
					return nil, fmt.Errorf("cannot tell whether %s is served: %w", name, err)
				}
				if !is {
					unresolved = append(unresolved, name)
				}
			}
		}
	}
	return unresolved, nil
}
