package isolation_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/manifests"
)

// escape changes a good object into one that must be refused.
type escape struct {
	name string
	// set are fields by their paths, with dots; a nil removes the field.
	set map[string]any
	// want is in the refusal: what to write instead.
	want string
}

const goodKustomization = `
apiVersion: kustomize.toolkit.fluxcd.io/v1
kind: Kustomization
metadata:
  name: good
  namespace: tenant-escape
  labels: {sharding.fluxcd.io/key: tenant-escape}
spec:
  serviceAccountName: tenant-escape-gitops
  interval: 10m
  prune: true
  sourceRef: {kind: GitRepository, name: good}
  postBuild: {substituteFrom: [{kind: ConfigMap, name: sizes}]}
`

const goodGitRepository = `
apiVersion: source.toolkit.fluxcd.io/v1
kind: GitRepository
metadata: {name: good, namespace: tenant-escape}
spec:
  url: https://git.example.org/acme/apps
  interval: 1m
  secretRef: {name: login.gitops}
`

const goodOCIRepository = `
apiVersion: source.toolkit.fluxcd.io/v1
kind: OCIRepository
metadata: {name: good, namespace: tenant-escape}
spec:
  url: oci://registry.example.org/acme/apps
  interval: 1m
  secretRef: {name: login.gitops}
`

const goodTenantGitOps = `
apiVersion: gitops.cozystack.io/v1alpha1
kind: TenantGitOps
metadata: {name: gitops, namespace: tenant-escape}
spec:
  sources:
  - name: apps
    git: {url: "https://git.example.org/acme/apps"}
`

func source(field, value any) map[string]any {
	git := map[string]any{"url": "https://git.example.org/acme/apps"}
	git[field.(string)] = value
	return map[string]any{"spec.sources": []any{map[string]any{"name": "apps", "git": git}}}
}

const shardLabel = "metadata.labels.sharding%fluxcd%io/key"

var kustomizationEscapes = []escape{
	{"no shard label", map[string]any{"metadata.labels": nil}, "needs the label sharding.fluxcd.io/key: tenant-escape"},
	{"an empty shard label", map[string]any{shardLabel: ""}, "needs the label"},
	{"another tenant's shard label", map[string]any{shardLabel: "tenant-other"}, "needs the label"},
	{"no account", map[string]any{"spec.serviceAccountName": nil}, "must be tenant-escape-gitops"},
	{"an empty account", map[string]any{"spec.serviceAccountName": ""}, "must be tenant-escape-gitops"},
	{"the tenant's own account", map[string]any{"spec.serviceAccountName": "tenant-escape"}, "must be tenant-escape-gitops"},
	{"another tenant's account", map[string]any{"spec.serviceAccountName": "tenant-other-gitops"}, "must be tenant-escape-gitops"},
	{"a kubeconfig of a Secret", map[string]any{"spec.kubeConfig": map[string]any{"secretRef": map[string]any{"name": "kubeconfig-tenant-escape"}}}, "kubeConfig is not for tenants"},
	{"a kubeconfig of a ConfigMap", map[string]any{"spec.kubeConfig": map[string]any{"configMapRef": map[string]any{"name": "elsewhere"}}}, "kubeConfig is not for tenants"},
	{"another namespace's source", map[string]any{"spec.sourceRef.namespace": "tenant-other"}, "remove spec.sourceRef.namespace"},
	{"the platform's source", map[string]any{"spec.sourceRef.namespace": "cozy-system"}, "remove spec.sourceRef.namespace"},
	{"an ExternalArtifact", map[string]any{"spec.sourceRef.kind": "ExternalArtifact"}, "must be GitRepository or OCIRepository"},
	{"a Bucket", map[string]any{"spec.sourceRef.kind": "Bucket"}, "must be GitRepository or OCIRepository"},
	{"a dependency elsewhere", map[string]any{"spec.dependsOn": []any{map[string]any{"name": "apps", "namespace": "tenant-other"}}}, "dependsOn must name Kustomizations of the same namespace"},
	{"another target", map[string]any{"spec.targetNamespace": "tenant-other"}, "targetNamespace must be the Kustomization's own"},
	{"a child as the target", map[string]any{"spec.targetNamespace": "tenant-escape-child"}, "targetNamespace must be the Kustomization's own"},
	{"a decryption Secret", map[string]any{"spec.decryption": map[string]any{"provider": "sops", "secretRef": map[string]any{"name": "keys.gitops"}}}, "decryption.secretRef: only sources of a TenantGitOps"},
	{"a decryption account", map[string]any{"spec.decryption": map[string]any{"provider": "sops", "serviceAccountName": "default"}}, "decryption.serviceAccountName is not for tenants"},
	{"a Secret to substitute from", map[string]any{"spec.postBuild.substituteFrom": []any{map[string]any{"kind": "Secret", "name": "tenant-escape"}}}, "substituteFrom: only sources of a TenantGitOps"},
	{"a .gitops Secret to substitute from", map[string]any{"spec.postBuild.substituteFrom": []any{map[string]any{"kind": "Secret", "name": "keys.gitops"}}}, "substituteFrom: only sources of a TenantGitOps"},
	{"a label that Flux goes by", map[string]any{"spec.commonMetadata": map[string]any{"labels": map[string]any{"kustomize.toolkit.fluxcd.io/name": "x"}}}, "labels that Flux goes by"},
	{"a finalizer of nobody", map[string]any{"metadata.finalizers": []any{"example.org/never"}}, "finalizers.fluxcd.io only"},
}

var sourceEscapes = []escape{
	{"a shard label", map[string]any{"metadata.labels": map[string]any{"sharding.fluxcd.io/key": "tenant-escape"}}, "remove the label"},
	{"an application's Secret", map[string]any{"spec.secretRef.name": "postgres-db-credentials"}, "must be called <something>.gitops"},
	{"a proxy", map[string]any{"spec.proxySecretRef": map[string]any{"name": "proxy.gitops"}}, "proxySecretRef is not for tenants"},
	{"too often", map[string]any{"spec.interval": "1s"}, "interval must be at least 30s"},
	{"too long", map[string]any{"spec.timeout": "1h"}, "timeout must be at most 5m"},
	{"a finalizer of nobody", map[string]any{"metadata.finalizers": []any{"example.org/never"}}, "finalizers.fluxcd.io only"},
}

var gitEscapes = []escape{
	{"submodules", map[string]any{"spec.recurseSubmodules": true}, "allowSubmodules"},
	{"an include", map[string]any{"spec.include": []any{map[string]any{"repository": map[string]any{"name": "other"}}}}, "include is not for tenants"},
	{"a cloud's login", map[string]any{"spec.provider": "azure"}, "provider must be generic"},
	{"verification keys elsewhere", map[string]any{"spec.verify": map[string]any{"mode": "HEAD", "secretRef": map[string]any{"name": "keys"}}}, "must be called <something>.gitops"},
	{"plain http", map[string]any{"spec.url": "http://git.example.org/acme/apps"}, "must start with https:// or ssh://"},
	{"credentials in the url", map[string]any{"spec.url": "https://ada:secret@git.example.org/acme/apps"}, "must not hold credentials"},
	{"a user in an https url", map[string]any{"spec.url": "https://ada@git.example.org/acme/apps"}, "must not hold credentials"},
	{"a password in an ssh url", map[string]any{"spec.url": "ssh://git:secret@git.example.org/acme/apps"}, "must not hold credentials"},
}

var ociEscapes = []escape{
	{"a plain registry", map[string]any{"spec.insecure": true}, "insecure is not for tenants"},
	{"an account", map[string]any{"spec.serviceAccountName": "default"}, "serviceAccountName is not for tenants"},
	{"a cloud's login", map[string]any{"spec.provider": "aws"}, "provider must be generic"},
	{"certificates of another name", map[string]any{"spec.certSecretRef": map[string]any{"name": "ca"}}, "must be called <something>.gitops"},
	{"verification keys elsewhere", map[string]any{"spec.verify": map[string]any{"provider": "cosign", "secretRef": map[string]any{"name": "keys"}}}, "must be called <something>.gitops"},
	{"credentials in the url", map[string]any{"spec.url": "oci://ada:secret@registry.example.org/acme/apps"}, "must not hold credentials"},
}

var tenantGitOpsEscapes = []escape{
	{"an internal host", source("url", "https://10.0.0.1/acme/apps"), "source apps: the url's host is no name of the public DNS"},
	{"submodules", source("recurseSubmodules", true), "source apps: recurseSubmodules"},
}

// internalHosts are spellings of places that source-controller must not be sent to.
var internalHosts = []string{
	"10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "127.0.0.2", "127.1", "0.0.0.0", "0", "169.254.169.254", "224.0.0.1",
	"2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "017700000001", "127.0.0.0x1", "10.1", "1.1.1.1",
	"[::1]", "[::]", "[fe80::1]", "[fd00::1]", "[::ffff:10.0.0.1]", "[::ffff:a00:1]", "[64:ff9b::a00:1]", "[fe80::1%25eth0]",
	"localhost", "LOCALHOST", "metadata", "kubernetes", "git.localhost", "metadata.google.internal", "router.local", "printer.lan",
	"kubernetes.default.svc", "kubernetes.default.svc.cluster.local", "flux.cozy-fluxcd.svc", "git.acme.SVC", "git.svc.cozy.example",
	"git.example.org.", "10.0.0.1.", "localhost.", "kubernetes.default.svc.cluster.local.", "1.0.0.10.in-addr.arpa",
	"%31%30.0.0.1", "①②⑦.⓪.⓪.①", "git.example.org@10.0.0.1", "-git.example.org", "git_example.org", "git..example.org",
}

func TestEscapesAreRefused(t *testing.T) {
	harness.NewTenant(t, cluster.Client, "tenant-escape")
	harness.NewTenant(t, cluster.Client, "tenant-other")
	strictParameters(t)
	giveFluxKinds(t)
	mallory := person(t, "mallory", "tenant-escape-admin")

	hosts := func(scheme string) []escape {
		var escapes []escape
		for _, host := range internalHosts {
			escapes = append(escapes, escape{"the host " + host, map[string]any{"spec.url": scheme + "://" + host + "/acme/apps"}, "spec.url"})
			escapes = append(escapes, escape{"the host and a port " + host, map[string]any{"spec.url": scheme + "://" + host + ":8443/acme/apps"}, "spec.url"})
		}
		return escapes
	}
	wrongSchemes := []escape{
		{"a file", map[string]any{"spec.url": "file:///etc/passwd"}, "spec.url"},
		{"the git protocol", map[string]any{"spec.url": "git://git.example.org/acme/apps"}, "spec.url"},
		{"scp", map[string]any{"spec.url": "git@git.example.org:acme/apps"}, "spec.url"},
	}
	for _, tc := range []struct {
		good    string
		escapes [][]escape
	}{
		{goodKustomization, [][]escape{kustomizationEscapes}},
		{goodGitRepository, [][]escape{sourceEscapes, gitEscapes, wrongSchemes, hosts("https"), hosts("ssh")}},
		{goodOCIRepository, [][]escape{sourceEscapes, ociEscapes, wrongSchemes, hosts("oci")}},
		{goodTenantGitOps, [][]escape{tenantGitOpsEscapes}},
	} {
		good := object(t, tc.good)
		if err := mallory.Create(t.Context(), good.DeepCopy()); err != nil {
			t.Fatalf("a good %s is refused: %v", good.GetKind(), err)
		}
		for _, escapes := range tc.escapes {
			for _, e := range escapes {
				t.Run(good.GetKind()+"/"+e.name, func(t *testing.T) {
					for way, err := range tries(t, mallory, good, e) {
						refused(t, way, err, e.want)
					}
				})
			}
		}
		if err := cluster.Client.Delete(t.Context(), good); err != nil {
			t.Fatal(err)
		}
	}
}

// tries makes a bad object in every way there is.
func tries(t *testing.T, mallory client.Client, good *unstructured.Unstructured, e escape) map[string]error {
	t.Helper()
	ctx := t.Context()
	bad := changed(t, good, e.set)
	errs := map[string]error{}

	fresh := bad.DeepCopy()
	if fresh.GetKind() != "TenantGitOps" { // of which there may be one only
		fresh.SetName("fresh")
		errs["create"] = mallory.Create(ctx, fresh.DeepCopy())
		errs["server-side apply of a new one"] = mallory.Apply(ctx, client.ApplyConfigurationFromUnstructured(fresh.DeepCopy()), client.FieldOwner("mallory"), client.ForceOwnership)
	}

	stored := good.DeepCopy()
	if err := mallory.Get(ctx, client.ObjectKeyFromObject(good), stored); err != nil {
		t.Fatal(err)
	}
	update := bad.DeepCopy()
	update.SetResourceVersion(stored.GetResourceVersion())
	errs["update"] = mallory.Update(ctx, update)
	errs["merge patch"] = mallory.Patch(ctx, changed(t, stored, e.set), client.MergeFrom(stored))
	return errs
}

func refused(t *testing.T, way string, err error, want string) {
	t.Helper()
	switch {
	case err == nil:
		t.Errorf("%s: it was let through", way)
	case !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err):
		t.Errorf("%s: refused, but by %v", way, err)
	case !strings.Contains(err.Error(), want):
		t.Errorf("%s: the refusal does not say %q: %v", way, want, err)
	}
}

func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	obj := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &obj.Object); err != nil {
		t.Fatal(err)
	}
	return obj
}

// changed is a copy with fields set; a % in a path stands for a dot in a name.
func changed(t *testing.T, obj *unstructured.Unstructured, set map[string]any) *unstructured.Unstructured {
	t.Helper()
	obj = obj.DeepCopy()
	for path, value := range set {
		var fields []string
		for _, field := range strings.Split(path, ".") {
			fields = append(fields, strings.ReplaceAll(field, "%", "."))
		}
		if value == nil {
			unstructured.RemoveNestedField(obj.Object, fields...)
			continue
		}
		if err := unstructured.SetNestedField(obj.Object, value, fields...); err != nil {
			t.Fatal(err)
		}
	}
	return obj
}

// strictParameters are those of a new installation, for the length of a test.
func strictParameters(t *testing.T) {
	t.Helper()
	strict := harness.Parameters()
	strict.Spec.AllowedHosts, strict.Spec.AllowSubmodules = nil, false
	if err := manifests.Apply(t.Context(), cluster.Client, strict); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := manifests.Apply(t.Context(), cluster.Client, harness.Parameters()); err != nil {
			t.Error(err)
		}
	})
}

// giveFluxKinds lets tenants' admins write Flux's kinds, as an admin of the platform may
// decide, and waits until they can.
func giveFluxKinds(t *testing.T) {
	t.Helper()
	role := &rbacv1.ClusterRole{
		TypeMeta:   metav1.TypeMeta{APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole"},
		ObjectMeta: metav1.ObjectMeta{Name: "acme-tenant-flux", Labels: map[string]string{"rbac.cozystack.io/aggregate-to-tenant-admin": "true"}},
		Rules: []rbacv1.PolicyRule{
			{APIGroups: []string{"kustomize.toolkit.fluxcd.io"}, Resources: []string{"kustomizations"}, Verbs: []string{"create", "update", "patch", "delete"}},
			{APIGroups: []string{"source.toolkit.fluxcd.io"}, Resources: []string{"gitrepositories", "ocirepositories"}, Verbs: []string{"create", "update", "patch", "delete"}},
		},
	}
	if err := manifests.Apply(t.Context(), cluster.Client, role); err != nil {
		t.Fatal(err)
	}
	probe := object(t, goodGitRepository)
	ada := person(t, "ada", "tenant-escape-admin")
	harness.Await(t, "a tenant's admin to be let write", func(ctx context.Context) (bool, string) {
		err := ada.Create(ctx, probe.DeepCopy(), client.DryRunAll)
		return err == nil, fmt.Sprint(err)
	})
}
