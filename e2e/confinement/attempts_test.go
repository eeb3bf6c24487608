package confinement_test

import (
	"context"
	"fmt"
	"time"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
)

// attempt is one thing that a thief of the token tries, without leaving a trace.
type attempt struct {
	name string
	try  func(context.Context, client.Client) error
}

// create dry-runs the creation of an object.
func create(name, manifest string) attempt {
	return attempt{name, func(ctx context.Context, c client.Client) error {
		obj := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(manifest), &obj.Object); err != nil {
			return err
		}
		return c.Create(ctx, obj, client.DryRunAll)
	}}
}

// patch dry-runs a merge patch of an object that exists.
func patch(name string, obj client.Object, body string) attempt {
	return attempt{name, func(ctx context.Context, c client.Client) error {
		return c.Patch(ctx, obj.DeepCopyObject().(client.Object),
			client.RawPatch("application/merge-patch+json", []byte(body)), client.DryRunAll)
	}}
}

// remove dry-runs a deletion.
func remove(name string, obj client.Object) attempt {
	return attempt{name, func(ctx context.Context, c client.Client) error {
		return c.Delete(ctx, obj.DeepCopyObject().(client.Object), client.DryRunAll)
	}}
}

// read gets an object.
func read(name string, obj client.Object) attempt {
	return attempt{name, func(ctx context.Context, c client.Client) error {
		return c.Get(ctx, client.ObjectKeyFromObject(obj), obj.DeepCopyObject().(client.Object))
	}}
}

// list lists Secrets of a namespace, or of all.
func list(name, namespace string) attempt {
	return attempt{name, func(ctx context.Context, c client.Client) error {
		return c.List(ctx, &corev1.SecretList{}, client.InNamespace(namespace))
	}}
}

// may asks for a right, where trying would need a running pod or leave a trace.
func may(name, namespace, verb, group, resource, subresource, object string) attempt {
	return attempt{name, func(ctx context.Context, c client.Client) error {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: namespace, Verb: verb, Group: group, Resource: resource, Subresource: subresource, Name: object,
			},
		}}
		if err := c.Create(ctx, review); err != nil || review.Status.Allowed {
			return err
		}
		return apierrors.NewForbidden(schema.GroupResource{Group: group, Resource: resource}, object, fmt.Errorf("cannot %s", verb))
	}}
}

func named(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

func binding(namespace, name, roleKind, role, subjectNamespace, subject string) string {
	return fmt.Sprintf(`{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {namespace: %s, name: %s},
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: %s, name: %q},
subjects: [{kind: ServiceAccount, namespace: %s, name: %s}]}`, namespace, name, roleKind, role, subjectNamespace, subject)
}

func role(namespace, name, rule string) string {
	return fmt.Sprintf(`{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {namespace: %s, name: %s}, rules: [%s]}`,
		namespace, name, rule)
}

func deployment(namespace, name, account, podSpec, container string) string {
	return fmt.Sprintf(`{apiVersion: apps/v1, kind: Deployment, metadata: {namespace: %s, name: %s}, spec: {selector: {matchLabels: {a: b}},
template: {metadata: {labels: {a: b}}, spec: {serviceAccountName: %s%s, containers: [{name: manager, image: example.org/theft%s}]}}}}`,
		namespace, name, account, podSpec, container)
}

func kustomization(namespace, labels, spec string) string {
	return fmt.Sprintf(`{apiVersion: kustomize.toolkit.fluxcd.io/v1, kind: Kustomization, metadata: {namespace: %s, name: gitops-theft, labels: {%s}},
spec: {interval: 1m, prune: true, sourceRef: {kind: GitRepository, name: theft}%s}}`, namespace, labels, spec)
}

func secret(namespace, name, labels, more string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: Secret, metadata: {namespace: %s, name: %s, labels: {%s}%s}`, namespace, name, labels, more)
}

const (
	tenant     = "tenant-robbed"
	other      = "tenant-quiet"
	controller = "kustomize-controller-" + tenant
	tenantRole = "gitops-operator-tenant-namespace"
	shard      = "sharding.fluxcd.io/key: " + tenant
	managed    = "app.kubernetes.io/managed-by: gitops-operator"
)

// theirSource is a source that a tenant wrote by hand, and theirSuspendedSource one that it
// has suspended.
func theirSource() *sourcev1.GitRepository {
	ignore := "*.bin"
	return &sourcev1.GitRepository{ObjectMeta: named(tenant, "theirs"), Spec: sourcev1.GitRepositorySpec{
		URL: "https://example.org/a", Interval: metav1.Duration{Duration: time.Hour}, Ignore: &ignore,
	}}
}

func theirSuspendedSource() *sourcev1.GitRepository {
	source := theirSource()
	source.Name, source.Spec.Suspend = "theirs-suspended", true
	return source
}

// attempts are the ways out of what the operator is for.
func attempts() []attempt {
	all := []attempt{
		create("bind itself to cluster-admin everywhere", `{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {name: theft}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}}`),
		create("bind itself to cluster-admin in a tenant's namespace", binding(tenant, "theft", "ClusterRole", "cluster-admin", "cozy-gitops", "gitops-operator")),
		create("bind a foreign account to its one role in a tenant's namespace", binding(other, "gitops-operator-for-"+other, "ClusterRole", tenantRole, tenant, "default")),
		create("bind itself to its one role under another name", binding(other, "theft", "ClusterRole", tenantRole, "cozy-gitops", "gitops-operator")),
		create("bind itself to its one role for a tenant that is not above", binding(other, "gitops-operator-for-"+tenant, "ClusterRole", tenantRole, "cozy-gitops", "gitops-operator")),
		create("bind itself to its one role in a tenant's namespace", binding(other, "gitops-operator-for-"+other, "ClusterRole", tenantRole, "cozy-gitops", "gitops-operator")),
		create("bind the controller of another tenant", binding(other, "kustomize-controller", "Role", "kustomize-controller", "cozy-gitops-tenants", controller)),
		create("bind a foreign account to the git account's Role", binding(other, other+"-gitops", "Role", other+"-gitops", tenant, "default")),
		remove("delete a binding of the platform", &rbacv1.RoleBinding{ObjectMeta: named("kube-system", "victim")}),
		patch("change a binding of the platform", &rbacv1.RoleBinding{ObjectMeta: named("kube-system", "victim")}, `{"metadata":{"labels":{"a":"b"}}}`),
		create("grant list of Secrets", role(tenant, "kustomize-controller", `{apiGroups: [""], resources: [secrets], verbs: [list]}`)),
		create("grant get of a Secret of the platform", role(tenant, "kustomize-controller", `{apiGroups: [""], resources: [secrets], resourceNames: [cozystack-values], verbs: [get]}`)),
		create("grant get of a Secret called *.gitops", role(tenant, "kustomize-controller", `{apiGroups: [""], resources: [secrets], resourceNames: [keys.gitops], verbs: [get]}`)),
		create("grant impersonate of every account", role(tenant, "kustomize-controller", `{apiGroups: [""], resources: [serviceaccounts], verbs: [impersonate]}`)),
		create("grant a star", role(tenant, tenant+"-gitops", `{apiGroups: [apps.cozystack.io], resources: ["*"], verbs: [get]}`)),
		create("make a Role of another name", role(tenant, "theft", `{apiGroups: [""], resources: [configmaps], verbs: [get]}`)),
		create("make a Role beside Flux", role("cozy-fluxcd", "kustomize-controller", `{apiGroups: [""], resources: [configmaps], verbs: [get]}`)),
		may("make a ClusterRole", "", "create", "rbac.authorization.k8s.io", "clusterroles", "", ""),
		may("widen its one role", "", "patch", "rbac.authorization.k8s.io", "clusterroles", "", tenantRole),
		may("impersonate a user", "", "impersonate", "", "users", "", "admin"),
		may("impersonate a group", "", "impersonate", "", "groups", "", "system:masters"),
		may("impersonate Flux", "cozy-fluxcd", "impersonate", "", "serviceaccounts", "", "flux"),
		may("impersonate an account of a tenant it is not bound into", other, "impersonate", "", "serviceaccounts", "", other),
		may("impersonate every account of a tenant it is bound into", tenant, "impersonate", "", "serviceaccounts", "", tenant),
		list("list all Secrets", ""),
		list("list Secrets of the platform", "kube-system"),
		list("list Secrets of a tenant it is not bound into", other),
		list("list Secrets of a tenant it is bound into", tenant),
		read("read cozystack-values of a tenant it is bound into", &corev1.Secret{ObjectMeta: named(tenant, "cozystack-values")}),
		remove("delete a Secret of a tenant", &corev1.Secret{ObjectMeta: named(tenant, "theirs.gitops")}),
		patch("take a Secret of a tenant for its own", &corev1.Secret{ObjectMeta: named(tenant, "theirs.gitops")}, `{"metadata":{"labels":{"app.kubernetes.io/managed-by":"gitops-operator"}}}`),
		may("read the values of every release", "", "list", "helm.toolkit.fluxcd.io", "helmreleases", "", ""),
		create("ask for the token of an account by a Secret", secret(tenant, "token.gitops", managed, `, annotations: {kubernetes.io/service-account.name: default}}, type: kubernetes.io/service-account-token`)),
		create("make a Secret of another name", secret(tenant, "theft", managed, "}, type: Opaque")),
		create("make a Secret called *.gitops", secret(tenant, "keys.gitops", managed, "}, type: Opaque")),
		may("ask for the token of an account", tenant, "create", "", "serviceaccounts", "token", "default"),
		remove("delete an account of a tenant", &corev1.ServiceAccount{ObjectMeta: named(tenant, "theirs")}),
		create("run another account beside the controllers", deployment("cozy-gitops-tenants", controller, "default", "", "")),
		create("run a Deployment of another name", deployment("cozy-gitops-tenants", "theft", "theft", "", "")),
		create("run a Deployment beside Flux", deployment("cozy-fluxcd", controller, "flux", "", "")),
		create("run a Deployment in a tenant's namespace", deployment(tenant, controller, controller, "", "")),
		create("mount a Secret into a controller", deployment("cozy-gitops-tenants", controller, controller, ", volumes: [{name: a, secret: {secretName: b}}]", "")),
		create("mount the host into a controller", deployment("cozy-gitops-tenants", controller, controller, ", volumes: [{name: a, hostPath: {path: /}}]", "")),
		create("read a Secret into a controller's environment", deployment("cozy-gitops-tenants", controller, controller, "", ", envFrom: [{secretRef: {name: a}}]")),
		create("run a controller on the host network", deployment("cozy-gitops-tenants", controller, controller, ", hostNetwork: true", "")),
		create("run a controller privileged", deployment("cozy-gitops-tenants", controller, controller, "", ", securityContext: {privileged: true}")),
		create("run a controller of another image", deployment("cozy-gitops-tenants", controller, controller, "", "")),
		may("start a pod", "cozy-gitops-tenants", "create", "", "pods", "", ""),
		may("enter a pod", "cozy-gitops-tenants", "create", "", "pods", "exec", ""),
		may("patch its own mutating webhook configuration", "", "patch", admissionv1.GroupName, "mutatingwebhookconfigurations", "", "gitops-operator"),
		may("patch its own validating webhook configuration", "", "patch", admissionv1.GroupName, "validatingwebhookconfigurations", "", "gitops-operator"),
		read("read the certificate of its webhooks", &corev1.Secret{ObjectMeta: named("cozy-gitops", "gitops-operator-webhook-certificates")}),
		patch("change the certificate of its webhooks", &corev1.Secret{ObjectMeta: named("cozy-gitops", "gitops-operator-webhook-certificates")}, `{"data":null}`),
		may("act as the account that renews certificates", "cozy-gitops", "impersonate", "", "serviceaccounts", "", "gitops-operator-certificates"),
		may("ask for the token of the account that renews certificates", "cozy-gitops", "create", "", "serviceaccounts", "token", "gitops-operator-certificates"),
		may("change the label of a namespace", "", "patch", "", "namespaces", "", tenant),
		may("change a CustomResourceDefinition", "", "patch", "apiextensions.k8s.io", "customresourcedefinitions", "", "tenantgitops.gitops.cozystack.io"),
		create("write a Kustomization without the shard label", kustomization(tenant, "", ", serviceAccountName: "+tenant+"-gitops")),
		create("write a Kustomization with another tenant's shard label", kustomization(tenant, "sharding.fluxcd.io/key: "+other, ", serviceAccountName: "+tenant+"-gitops")),
		create("write a Kustomization without an account", kustomization(tenant, shard, "")),
		create("write a Kustomization with another account", kustomization(tenant, shard, ", serviceAccountName: "+tenant)),
		create("write a Kustomization with a kubeConfig", kustomization(tenant, shard, ", serviceAccountName: "+tenant+"-gitops, kubeConfig: {secretRef: {name: a}}")),
		create("write a Kustomization beside Flux", kustomization("cozy-fluxcd", "", "")),
		create("write a Kustomization as the operator does", kustomization(tenant, shard, ", serviceAccountName: "+tenant+"-gitops")),
		create("write a source of another name", `{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {namespace: tenant-robbed, name: theft}, spec: {interval: 1m, url: "https://example.org/a"}}`),
		create("write a source as the operator does", `{apiVersion: source.toolkit.fluxcd.io/v1, kind: GitRepository, metadata: {namespace: tenant-robbed, name: gitops-theft}, spec: {interval: 1m, url: "https://example.org/a"}}`),
		patch("suspend a tenant's source and say so", theirSource(), `{"metadata":{"annotations":{"gitops.cozystack.io/held":"a"}},"spec":{"suspend":true}}`),
		patch("suspend a tenant's source without a word", theirSource(), `{"spec":{"suspend":true}}`),
		patch("resume a source that the tenant suspended", theirSuspendedSource(), `{"spec":{"suspend":false}}`),
		patch("say of a tenant's source that it is held, and let it go on", theirSource(), `{"metadata":{"annotations":{"gitops.cozystack.io/held":"a"}}}`),
		patch("lead a tenant's source elsewhere", theirSource(), `{"metadata":{"annotations":{"gitops.cozystack.io/held":"a"}},"spec":{"suspend":true,"url":"https://example.org/b"}}`),
		patch("name a Secret in a tenant's source", theirSource(), `{"metadata":{"annotations":{"gitops.cozystack.io/held":"a"}},"spec":{"suspend":true,"secretRef":{"name":"a"}}}`),
		patch("take a field out of a tenant's source", theirSource(), `{"metadata":{"annotations":{"gitops.cozystack.io/held":"a"}},"spec":{"suspend":true,"ignore":null}}`),
		patch("label a tenant's source", theirSource(), `{"metadata":{"labels":{"a":"b"},"annotations":{"gitops.cozystack.io/held":"a"}},"spec":{"suspend":true}}`),
		patch("annotate a tenant's source otherwise", theirSource(), `{"metadata":{"annotations":{"a":"b"}}}`),
		patch("put a finalizer on a tenant's source", theirSource(), `{"metadata":{"finalizers":["example.org/theft"]}}`),
		remove("delete a tenant's source", theirSource()),
		patch("change the spec of a TenantGitOps", tenantGitOps(), `{"spec":{"suspend":true}}`),
		{"write an application in a tenant it is bound into", func(ctx context.Context, c client.Client) error {
			application := fixtures.Application("Postgres", tenant, "theft")
			if err := c.Create(ctx, application, client.DryRunAll); err != nil {
				return err
			}
			// The platform stores it even so; the next walk finds nothing of this one.
			return client.IgnoreNotFound(cluster.Client.Delete(ctx, application))
		}},
	}
	all = append(all, networkAttempts()...)
	all = append(all, packageAttempts()...)
	for _, namespace := range []string{"kube-system", "cozy-system", "default", "cozy-fluxcd", "cozy-gitops-tenants"} {
		all = append(all, create("bind itself to its one role in "+namespace,
			binding(namespace, "gitops-operator-for-"+namespace, "ClusterRole", tenantRole, "cozy-gitops", "gitops-operator")))
	}
	for _, resource := range []string{
		"validatingadmissionpolicies", "validatingadmissionpolicybindings", "mutatingadmissionpolicies",
		"validatingwebhookconfigurations", "mutatingwebhookconfigurations",
	} {
		for _, verb := range []string{"create", "update", "patch", "delete"} {
			all = append(all, may(verb+" "+resource, "", verb, admissionv1.GroupName, resource, "", ""))
		}
	}
	return all
}
