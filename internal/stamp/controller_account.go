package stamp

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/cozystack/gitops-operator/templates"
)

// controllerAccount adds the identity of the tenant's controller, and its one
// Role in the tenant's namespace.
func (b builder) controllerAccount(stack *Stack) error {
	account, err := templates.Decode[corev1.ServiceAccount]("tenant/controller-serviceaccount.yaml", b.variables())
	if err != nil {
		return err
	}
	role, err := templates.Decode[rbacv1.Role]("tenant/controller-role.yaml", b.variables())
	if err != nil {
		return err
	}
	role.Rules = append(role.Rules,
		readByName("secrets", b.in.Named.Secrets)...)
	role.Rules = append(role.Rules,
		readByName("configmaps", b.in.Named.ConfigMaps)...)
	binding, err := templates.Decode[rbacv1.RoleBinding]("tenant/controller-rolebinding.yaml", b.variables())
	if err != nil {
		return err
	}
	b.hold(role)
	b.hold(binding)
	stack.Accounts = append(stack.Accounts, account, role, binding)
	return nil
}

// readByName grants get on exactly these objects. It returns no rule for no
// names, since a rule without names grants all of them.
func readByName(resource string, objects []string) []rbacv1.PolicyRule {
	if len(objects) == 0 {
		return nil
	}
	return []rbacv1.PolicyRule{{
		APIGroups:     []string{""},
		Resources:     []string{resource},
		ResourceNames: sortedUnique(objects),
		Verbs:         []string{"get"},
	}}
}
