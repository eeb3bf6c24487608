package isolation_test

import (
	"slices"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// changeGit changes the repository of the first source.
func changeGit(key string, value any) change {
	return func(o *object) {
		sources := o.Object["spec"].(map[string]any)["sources"].([]any)
		sources[0].(map[string]any)["git"].(map[string]any)[key] = value
	}
}

// What a source of that kind would be refused is refused where the tenant writes it.
func TestTenantGitOpsIsHeldToTheSameHosts(t *testing.T) {
	const namespace = "tenant-hosts"
	person := newTenantAdmin(t, namespace)
	useParameters(t, map[string]any{"allowedHosts": []any{}, "allowSubmodules": false})
	good := goodTenantGitOps(namespace)
	createGood(t, person, good)
	attempts := []attempt{
		{name: "submodules", change: changeGit("recurseSubmodules", true), mend: "remove it"},
	}
	for _, host := range slices.Concat(addresses, foldedAddresses, internalNames) {
		attempts = append(attempts, attempt{
			name: host, change: changeGit("url", "https://"+host+"/acme/apps"), mend: "ask the platform's admin", bySchema: true,
		})
	}
	tryAll(t, person, good, attempts)
	if err := person.Delete(t.Context(), good.DeepCopy()); client.IgnoreNotFound(err) != nil {
		t.Error(err)
	}
}
