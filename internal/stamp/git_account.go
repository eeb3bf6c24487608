package stamp

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/cozystack/gitops-operator/templates"
)

// gitAccount adds the account that git acts as, and what it may do: in the
// tenant's namespace, and in those of descendants which a source names.
func (b builder) gitAccount(stack *Stack) error {
	account, err := templates.Decode[corev1.ServiceAccount]("tenant/git-serviceaccount.yaml", b.variables())
	if err != nil {
		return err
	}
	b.hold(account)
	stack.Accounts = append(stack.Accounts, account)

	for _, namespace := range append([]string{b.tenant}, b.in.Targets...) {
		role, err := templates.Decode[rbacv1.Role]("tenant/git-role.yaml", b.variablesIn(namespace))
		if err != nil {
			return err
		}
		fillApplicationKinds(role, b.in.Kinds)
		binding, err := templates.Decode[rbacv1.RoleBinding]("tenant/git-rolebinding.yaml", b.variablesIn(namespace))
		if err != nil {
			return err
		}
		b.hold(role)
		b.hold(binding)
		stack.Accounts = append(stack.Accounts, role, binding)
	}
	return nil
}

// fillApplicationKinds lists the kinds in the rule for applications, or takes
// the rule out where there is none: a rule without resources is invalid.
func fillApplicationKinds(role *rbacv1.Role, kinds []string) {
	role.Rules = slices.DeleteFunc(role.Rules, func(rule rbacv1.PolicyRule) bool {
		return slices.Contains(rule.APIGroups, ApplicationsGroup) && len(kinds) == 0
	})
	for i := range role.Rules {
		if slices.Contains(role.Rules[i].APIGroups, ApplicationsGroup) {
			role.Rules[i].Resources = sortedUnique(kinds)
		}
	}
}

// ApplicationsGroup is the API group of the managed applications.
const ApplicationsGroup = "apps.cozystack.io"

func sortedUnique(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}
