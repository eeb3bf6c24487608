package escapes_test

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// byGit marks what came of a repository.
const byGit = "example.org/by-git"

// gitObject is something in a repository that git may not write.
type gitObject struct{ what, manifest string }

func gitObjectOf(what, apiVersion, kind, name, rest string) gitObject {
	return gitObject{what, fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata:\n  name: %s\n  annotations: {%s: \"yes\"}\n%s", apiVersion, kind, name, byGit, rest)}
}

// writtenThroughGit is what git must not write: more than the tenant's admins may, and the
// surface itself.
var writtenThroughGit = []gitObject{
	gitObjectOf("a Role", "rbac.authorization.k8s.io/v1", "Role", "by-git", "rules: []\n"),
	gitObjectOf("a RoleBinding", "rbac.authorization.k8s.io/v1", "RoleBinding", "by-git", "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: admin}\n"),
	gitObjectOf("a ServiceAccount", "v1", "ServiceAccount", "by-git", ""),
	gitObjectOf("a Secret", "v1", "Secret", "by-git", ""),
	gitObjectOf("a ConfigMap", "v1", "ConfigMap", "by-git", ""),
	gitObjectOf("a Pod", "v1", "Pod", "by-git", "spec: {containers: [{name: a, image: example.org/a}]}\n"),
	gitObjectOf("a NetworkPolicy", "networking.k8s.io/v1", "NetworkPolicy", "by-git", "spec: {podSelector: {}}\n"),
	gitObjectOf("the TenantGitOps", "gitops.cozystack.io/v1alpha1", "TenantGitOps", "gitops", "spec: {suspend: true}\n"),
	gitObjectOf("a Kustomization", "kustomize.toolkit.fluxcd.io/v1", "Kustomization", "by-git", "spec: {interval: 1h, prune: true, suspend: true, sourceRef: {kind: GitRepository, name: good}}\n"),
	gitObjectOf("a GitRepository", "source.toolkit.fluxcd.io/v1", "GitRepository", "by-git", "spec: {interval: 1h, suspend: true, url: \"https://git.example.org/acme\"}\n"),
	gitObjectOf("a Tenant, which its admins may not write", "apps.cozystack.io/v1alpha1", "Tenant", "bygit", "spec: {}\n"),
	gitObjectOf("the application gitops", "apps.cozystack.io/v1alpha1", "GitOps", "by-git", "spec: {}\n"),
}

// try is the escape by which a repository holds the object.
func (o gitObject) try() controllerTry {
	return controllerTry{
		name: o.what, change: unchanged, path: in("written/" + slug(o.what)), plainNames: true,
		escaped: func(ctx context.Context, _ *scenery, tenant, _ string) (bool, error) {
			object := &unstructured.Unstructured{}
			if err := yaml.Unmarshal([]byte(o.manifest), &object.Object); err != nil {
				return false, err
			}
			object.SetNamespace(tenant)
			err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
			return err == nil && object.GetAnnotations()[byGit] == "yes", client.IgnoreNotFound(err)
		},
	}
}
