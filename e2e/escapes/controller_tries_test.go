package escapes_test

import (
	"context"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/attempts"
	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
)

const (
	hour = time.Hour
	// requestForBase is the escape by which a controller asks a host for a file.
	requestForBase = "a request to a host that a repository names"
	// tokenAudience is what the API server takes tokens of accounts for.
	tokenAudience = "https://kubernetes.default.svc.cluster.local"
)

// controllerTry is an escape that a tenant's controller is given to reconcile.
type controllerTry struct {
	// name is that of the attempt whose change it makes.
	name   string
	change func(tenant string) attempts.Change
	// path is the folder that is applied; app where there is none.
	path func(tenant string) string
	// ofRepository: it is in a repository, and no matter of the Kustomization.
	ofRepository bool
	// plainNames: the object is called as in the repository.
	plainNames bool
	// escaped says whether the controller did what it must not. The application that is
	// applied begins with prefix.
	escaped func(ctx context.Context, s *scenery, tenant, prefix string) (bool, error)
}

// byName finds an attempt of Kustomizations, for each tenant.
func byName(name string) func(string) attempts.Change {
	return func(tenant string) attempts.Change {
		for _, attempt := range attempts.Kustomizations(tenant) {
			if attempt.Name == name {
				return attempt.Change
			}
		}
		panic("no attempt is called " + name)
	}
}

func unchanged(string) attempts.Change { return func(*unstructured.Unstructured) {} }

// appIn says that the application lies in a namespace.
func appIn(namespace func(tenant string) string) func(context.Context, *scenery, string, string) (bool, error) {
	return func(ctx context.Context, _ *scenery, tenant, prefix string) (bool, error) {
		app := fixtures.Application("Postgres", namespace(tenant), prefix+"app")
		err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(app), app)
		return err == nil, client.IgnoreNotFound(err)
	}
}

func own(tenant string) string { return tenant }

func in(namespace string) func(string) string { return func(string) string { return namespace } }

// appliedByAnother says that the application was written by another than git's account.
func appliedByAnother(_ context.Context, _ *scenery, tenant, prefix string) (bool, error) {
	writes, err := cluster.Writes(time.Time{}, func(w embedded.Write) bool {
		return w.Stored() && w.Name == prefix+"app" && w.Code < 300 && w.User != "system:serviceaccount:"+tenant+":"+tenant+"-gitops"
	})
	return len(writes) > 0, err
}

// tokenMade says that the controller made a token of an account of the tenant.
func tokenMade(account func(tenant string) string) func(context.Context, *scenery, string, string) (bool, error) {
	return func(_ context.Context, _ *scenery, tenant, _ string) (bool, error) {
		writes, err := cluster.Writes(time.Time{}, func(w embedded.Write) bool {
			return w.Resource == "serviceaccounts" && w.Subresource == "token" && w.Namespace == tenant && w.Name == account(tenant) && w.Code < 300
		})
		return len(writes) > 0, err
	}
}

// heard says that the listener was asked for a path of the tenant, with a word.
func heard(path, word string) func(context.Context, *scenery, string, string) (bool, error) {
	return func(_ context.Context, s *scenery, tenant, _ string) (bool, error) {
		return s.listener.heard(path+tenant, word), nil
	}
}

// controllerTries are the escapes by what a Kustomization says.
var controllerTries = []controllerTry{
	{name: "no account", escaped: appliedByAnother},
	{name: "the tenant's own account", escaped: appliedByAnother},
	{name: "another namespace's source", change: func(string) attempts.Change { return attempts.Field("spec.sourceRef.namespace", victim) }, escaped: appIn(own)},
	{name: "an ExternalArtifact", escaped: appIn(own)},
	{name: "a Bucket", escaped: appIn(own)},
	{name: "dependsOn elsewhere", change: func(string) attempts.Change {
		return attempts.Field("spec.dependsOn", []any{map[string]any{"name": "b", "namespace": victim}})
	}, escaped: appIn(own)},
	{name: "kubeConfig by Secret", escaped: heard("/kubeconfig/", canary)},
	{name: "kubeConfig by ConfigMap", escaped: tokenMade(own)},
	{name: "another target", escaped: appIn(in("kube-system"))},
	{name: "a tenant beside as target", escaped: appIn(in(victim))},
	{name: "the tenant above as target", escaped: appIn(in("tenant-root"))},
	{name: "a tenant below as target", escaped: appIn(func(tenant string) string { return tenant + "-child" })},
	{name: "decryption with an account", path: func(tenant string) string { return "kms/" + tenant }, escaped: tokenMade(in("default"))},
	{name: "decryption with a Secret", path: func(tenant string) string { return "vault/" + tenant }, escaped: heard("/v1/transit/decrypt/", canary)},
	{name: "substituteFrom a Secret", path: in("substituted"), escaped: func(ctx context.Context, _ *scenery, tenant, prefix string) (bool, error) {
		app := fixtures.Application("Postgres", tenant, prefix+"app")
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(app), app); err != nil {
			return false, client.IgnoreNotFound(err)
		}
		password, _, err := unstructured.NestedString(app.Object, "spec", "password")
		return password == canary, err
	}},
	{name: "labels of Flux's owner", escaped: labelled("kustomize.toolkit.fluxcd.io/name")},
	{name: "labels of Flux's owner's namespace", escaped: labelled("kustomize.toolkit.fluxcd.io/namespace")},
	{name: "a shard label for all", escaped: labelled(attempts.ShardLabel)},
	{name: requestForBase, ofRepository: true, change: unchanged, path: func(tenant string) string { return "base/" + tenant }, escaped: heard("/base/", "")},
	{name: "a base of a foreign repository", ofRepository: true, change: unchanged, path: in("foreign"), escaped: appIn(own)},
}

// labelled says that the application carries a label as the attempts set it.
func labelled(key string) func(context.Context, *scenery, string, string) (bool, error) {
	return func(ctx context.Context, _ *scenery, tenant, prefix string) (bool, error) {
		app := fixtures.Application("Postgres", tenant, prefix+"app")
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(app), app); err != nil {
			return false, client.IgnoreNotFound(err)
		}
		return app.GetLabels()[key] == "x", nil
	}
}

// slug makes a name of an object of the name of an attempt.
func slug(name string) string {
	return strings.Trim(strings.NewReplacer(" ", "-", "'", "", "(", "", ")", "", ":", "", ",", "", "*", "", "/", "-").Replace(strings.ToLower(name)), "-")
}
