package confinement_test

import (
	"fmt"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
)

const (
	adminNamespace  = "cozy-system"
	adminAccount    = "cozystack-customizer"
	ownedNamespace  = "acme-owned"
	curatedRole     = "gitops-customizer-curated"
	ownedRole       = "gitops-customizer-owned-namespace"
	operatorSubject = "kind: ServiceAccount, namespace: cozy-gitops, name: gitops-operator"
	adminSubject    = "kind: ServiceAccount, namespace: cozy-system, name: cozystack-customizer"
)

// The platform's own, beside which a Customizer's objects are stamped.
var (
	platformCustomizer    = &gitopsv1.Customizer{ObjectMeta: metav1.ObjectMeta{Name: "platform"}}
	platformKustomization = &kustomizev1.Kustomization{ObjectMeta: named(adminNamespace, "platform")}
	platformSource        = &sourcev1.GitRepository{ObjectMeta: named(adminNamespace, "cozystack-packages")}
	platformAccount       = &corev1.ServiceAccount{ObjectMeta: named(adminNamespace, "cozystack")}
	platformBinding       = &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "platform"}}
	platformRole          = &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "platform"}}
)

func clusterRoleBinding(name, role, subjects string) string {
	return fmt.Sprintf(`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: %s},
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: %q}, subjects: [%s]}`, name, role, subjects)
}

func clusterRole(name, labels, rule string) string {
	return fmt.Sprintf(`{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: %q, labels: {%s}}, rules: [%s]}`, name, labels, rule)
}

func adminKustomization(name, spec string) string {
	return fmt.Sprintf(`{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {namespace: cozy-system, name: %s},
spec: {interval: 1m, prune: true, sourceRef: {kind: GitRepository, name: %s}%s}}`, name, adminAccount, spec)
}

func source(name string) string {
	return fmt.Sprintf(`{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {namespace: cozy-system, name: %s}, spec: {interval: 1m, url: "https://example.org/a"}}`, name)
}

// adminTierAttempts are the ways out of what the admin tier adds to the operator's rights.
func adminTierAttempts() []attempt {
	// What the operator holds itself, and so could pass on.
	const held = `{apiGroups: [gitops.cozystack.io], resources: [customizers], verbs: [get]}`
	all := []attempt{
		create("bind itself to a profile", clusterRoleBinding(adminAccount, curatedRole, "{"+operatorSubject+"}")),
		create("bind itself to a profile beside the account", clusterRoleBinding(adminAccount, curatedRole, "{"+adminSubject+"}, {"+operatorSubject+"}")),
		create("bind everybody to a profile", clusterRoleBinding(adminAccount, curatedRole, `{kind: Group, apiGroup: rbac.authorization.k8s.io, name: "system:authenticated"}`)),
		create("bind an account to a profile under another name", clusterRoleBinding("theft", curatedRole, "{"+adminSubject+"}")),
		create("bind the account of one Customizer by the binding of another", clusterRoleBinding(adminAccount+"-other", curatedRole, "{"+adminSubject+"}")),
		create("bind the account to the rights of an owned namespace everywhere", clusterRoleBinding(adminAccount, ownedRole, "{"+adminSubject+"}")),
		create("bind the account to cluster-admin", clusterRoleBinding(adminAccount, "cluster-admin", "{"+adminSubject+"}")),
		create("bind the account to the operator's own role", clusterRoleBinding(adminAccount, "gitops-operator", "{"+adminSubject+"}")),
		create("bind the account to a profile as the operator does", clusterRoleBinding(adminAccount, curatedRole, "{"+adminSubject+"}")),
		patch("change a ClusterRoleBinding of the platform", platformBinding, `{"metadata":{"labels":{"a":"b"}}}`),
		remove("delete a ClusterRoleBinding of the platform", platformBinding),
		create("make a ClusterRole of another name", clusterRole("theft", "", held)),
		create("make a ClusterRole that becomes part of admin", clusterRole(adminAccount+":extra", `rbac.authorization.k8s.io/aggregate-to-admin: "true"`, held)),
		create("make a ClusterRole that widens what it may grant", clusterRole(adminAccount+":extra", `gitops.cozystack.io/grantable-to-customizers: "true"`, held)),
		create("grant a star in extra rules", clusterRole(adminAccount+":extra", "", `{apiGroups: [gitops.cozystack.io], resources: [customizers], verbs: ["*"]}`)),
		create("grant what it does not hold in extra rules", clusterRole(adminAccount+":extra", "", `{apiGroups: [""], resources: [secrets], verbs: [get]}`)),
		create("grant bind in extra rules", clusterRole(adminAccount+":extra", "", `{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], resourceNames: [`+curatedRole+`], verbs: [bind]}`)),
		create("make extra rules as the operator does", clusterRole(adminAccount+":extra", "", held)),
		patch("widen the role of a profile", &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: curatedRole}}, `{"rules":[`+`{"apiGroups":["gitops.cozystack.io"],"resources":["customizers"],"verbs":["get"]}`+`]}`),
		patch("widen its own role", &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "gitops-operator-customizer"}}, `{"metadata":{"labels":{"a":"b"}}}`),
		patch("have roles become what it may grant", &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "gitops-operator-customizer-grants"}}, `{"aggregationRule":{"clusterRoleSelectors":[{}]}}`),
		patch("change a ClusterRole of the platform", platformRole, `{"metadata":{"labels":{"a":"b"}}}`),
		remove("delete a ClusterRole of the platform", platformRole),
		create("bind itself in an owned namespace", binding(ownedNamespace, adminAccount, "ClusterRole", ownedRole, "cozy-gitops", "gitops-operator")),
		create("bind the account in an owned namespace to a profile", binding(ownedNamespace, adminAccount, "ClusterRole", curatedRole, adminNamespace, adminAccount)),
		create("bind the account in an owned namespace as the operator does", binding(ownedNamespace, adminAccount, "ClusterRole", ownedRole, adminNamespace, adminAccount)),
		create("make a namespace without Pod Security", `{apiVersion: v1, kind: Namespace, metadata: {name: acme-theft, labels: {pod-security.kubernetes.io/enforce: privileged}}}`),
		create("make a namespace as the operator does", `{apiVersion: v1, kind: Namespace, metadata: {name: acme-theft}}`),
		patch("change a namespace", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ownedNamespace}}, `{"metadata":{"labels":{"a":"b"}}}`),
		remove("delete a namespace", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ownedNamespace}}),
		create("make an account beside the platform's", `{apiVersion: v1, kind: ServiceAccount, metadata: {namespace: cozy-system, name: theft}}`),
		create("make an account as the operator does", `{apiVersion: v1, kind: ServiceAccount, metadata: {namespace: cozy-system, name: cozystack-customizer}}`),
		patch("change an account of the platform", platformAccount, `{"metadata":{"labels":{"a":"b"}}}`),
		remove("delete an account of the platform", platformAccount),
		may("ask for the token of a Customizer's account", adminNamespace, "create", "", "serviceaccounts", "token", adminAccount),
		may("impersonate a Customizer's account", adminNamespace, "impersonate", "", "serviceaccounts", "", adminAccount),
		may("impersonate an account of the platform", adminNamespace, "impersonate", "", "serviceaccounts", "", platformAccount.Name),
		list("list the Secrets beside the platform", adminNamespace),
		may("read the Secret of a Customizer", adminNamespace, "get", "", "secrets", "", "platform.gitops"),
		create("have Flux apply as itself", adminKustomization(adminAccount, "")),
		create("have Flux apply as an account of the platform", adminKustomization(adminAccount, ", serviceAccountName: cozystack")),
		create("have Flux apply another source", adminKustomization(adminAccount+"-other", ", serviceAccountName: cozystack-customizer-other")),
		create("have Flux apply to another cluster", adminKustomization(adminAccount, ", serviceAccountName: cozystack-customizer, kubeConfig: {secretRef: {name: a}}")),
		create("write a Kustomization of another name", adminKustomization("theft", ", serviceAccountName: theft")),
		create("write a Kustomization of a Customizer as the operator does", adminKustomization(adminAccount, ", serviceAccountName: cozystack-customizer")),
		patch("change a Kustomization of the platform", platformKustomization, `{"metadata":{"labels":{"a":"b"}}}`),
		remove("delete a Kustomization of the platform", platformKustomization),
		create("write a source of another name beside the platform's", source("theft")),
		create("write a source of a Customizer as the operator does", source(adminAccount)),
		patch("lead the source of the platform elsewhere", platformSource, `{"spec":{"url":"https://example.org/theft"}}`),
		patch("suspend the source of the platform", platformSource, `{"metadata":{"annotations":{"gitops.cozystack.io/held":"a"}},"spec":{"suspend":true}}`),
		remove("delete the source of the platform", platformSource),
		patch("lead a Customizer to another repository", platformCustomizer, `{"spec":{"source":{"git":{"url":"https://example.org/theft"}}}}`),
		patch("give a Customizer another profile", platformCustomizer, `{"spec":{"rbac":{"profile":"ClusterAdmin"}}}`),
		patch("put the finalizer on a Customizer", platformCustomizer, `{"metadata":{"finalizers":["gitops.cozystack.io/customizer"]}}`),
		may("make a Customizer", "", "create", gitopsv1.GroupVersion.Group, "customizers", "", ""),
		may("delete a Customizer", "", "delete", gitopsv1.GroupVersion.Group, "customizers", "", platformCustomizer.Name),
		may("write a PackageValues", "", "create", "cozystack.io", "packagevalues", "", ""),
		may("write the spec of a Package", "", "patch", "cozystack.io", "packages", "", ""),
		may("change the guards", "", "patch", "admissionregistration.k8s.io", "validatingadmissionpolicies", "", ""),
		may("change a CustomResourceDefinition of its own", "", "patch", "apiextensions.k8s.io", "customresourcedefinitions", "", "customizers.gitops.cozystack.io"),
		may("bind a role that is no profile", "", "bind", "rbac.authorization.k8s.io", "clusterroles", "", "cluster-admin"),
		may("escalate a role", "", "escalate", "rbac.authorization.k8s.io", "clusterroles", "", ""),
	}
	for _, namespace := range []string{"kube-system", adminNamespace, "default", "cozy-fluxcd"} {
		all = append(all, create("bind the account in "+namespace, binding(namespace, adminAccount, "ClusterRole", ownedRole, adminNamespace, adminAccount)))
	}
	for _, namespace := range []string{"kube-theft", "cozy-theft", "tenant-theft"} {
		all = append(all, create("make the namespace "+namespace, "{apiVersion: v1, kind: Namespace, metadata: {name: "+namespace+"}}"))
	}
	return all
}

// platformObjects are what the attempts are about.
func platformObjects() []client.Object {
	customizer := platformCustomizer.DeepCopy()
	customizer.Spec.Source.Git = &gitopsv1.GitSource{URL: "https://example.org/acme"}
	kustomization := platformKustomization.DeepCopy()
	kustomization.Spec.SourceRef = kustomizev1.CrossNamespaceSourceReference{Kind: "GitRepository", Name: platformSource.Name}
	source := platformSource.DeepCopy()
	source.Spec.URL = "https://example.org/platform"
	binding := platformBinding.DeepCopy()
	binding.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: platformRole.Name}
	return []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: adminNamespace}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ownedNamespace}},
		platformAccount.DeepCopy(), platformRole.DeepCopy(), binding, source, kustomization, customizer,
	}
}
