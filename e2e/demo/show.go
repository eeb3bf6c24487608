package main

import (
	"context"
	"time"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
)

// applicationKinds are those that are in the repository.
const applicationKinds = "postgreses.apps.cozystack.io,redises.apps.cozystack.io"

// showWhatThereIs prints the state that was reached, and what a person can do next.
func (d *demo) showWhatThereIs(ctx context.Context, s *stage, took time.Duration) error {
	d.step("Ready after %.0f seconds", took.Seconds())
	for _, args := range [][]string{
		{"get", "tenantgitops", "-A"},
		{"-n", tenantNamespace, "get", applicationKinds},
		{"-n", "cozy-gitops-tenants", "get", "deployments"},
	} {
		if err := d.runKubectl(ctx, s, args...); err != nil {
			return err
		}
		d.say("")
	}
	d.say("What this cluster lacks:")
	for _, caveat := range s.caveats {
		d.say("  * %s", caveat)
	}
	d.say("")
	d.say("Look further, in another terminal:")
	for _, line := range []string{
		"export KUBECONFIG=" + s.kubeconfig,
		"export PATH=" + d.file("bin") + ":$PATH",
		"kubectl get tenantgitops -A",
		"kubectl -n " + tenantNamespace + " describe tenantgitops " + gitopsv1.TenantGitOpsName,
		"kubectl -n " + tenantNamespace + " get gitrepositories,kustomizations,serviceaccounts,roles,rolebindings",
		"kubectl -n cozy-gitops-tenants get deployments,networkpolicies,serviceaccounts",
		"kubectl --as=ada --as-group=" + tenantNamespace + "-admin -n " + tenantNamespace + " get tenantgitops   # as a tenant's admin",
		s.readOperatorLog,
	} {
		d.say("  %s", line)
	}
	d.say("")
	d.say(pushHeader)
	for _, line := range pushCommands(s.pushURL, d.file("git-ca.pem"), d.file("apps")) {
		d.say("  %s", line)
	}
	return nil
}

// pushHeader comes before the commands that push a commit.
const pushHeader = "Push a second commit, which shows up below within half a minute:"

// pushCommands clone the repository, add an application, and push. The clone keeps its
// own configuration, so that nothing depends on the person's; what the environment says
// of authorities would go before that.
func pushCommands(url, authorityFile, clone string) []string {
	return []string{
		"env GIT_SSL_CAINFO=" + authorityFile + " git clone -c http.sslCAInfo=" + authorityFile + " -c user.name=Ada -c user.email=ada@example.org " + url + " " + clone,
		"sed 's/name: cache/name: sessions/' " + clone + "/cache.yaml > " + clone + "/sessions.yaml",
		"git -C " + clone + " add sessions.yaml",
		"git -C " + clone + " commit -m 'Add a cache for sessions'",
		"env GIT_SSL_CAINFO=" + authorityFile + " git -C " + clone + " push",
	}
}
