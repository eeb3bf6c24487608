package secrettheft_test

import (
	"context"
	"fmt"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// useInTenantGitOps has sources of the TenantGitOps decrypt and substitute with Secrets
// that they may name, and waits until that is seen.
func useInTenantGitOps(t *testing.T, thief *thiefServer, first gitopsv1.Source) []attack {
	t.Helper()
	var used []attack
	sources := []gitopsv1.Source{first}
	for i, how := range thefts {
		secret := fmt.Sprintf("named-%d.gitops", i)
		source := *first.DeepCopy()
		switch how.field {
		case "TenantGitOps.sources[].decryption.secretRef":
			source.Name, source.Path = "vault", "./vault"
			source.Decryption = &gitopsv1.Decryption{Provider: "sops", SecretRef: &meta.LocalObjectReference{Name: secret}}
		case "TenantGitOps.sources[].postBuild.substituteFrom[]":
			source.Name, source.Path = "substituted", "./substituted"
			source.PostBuild = &gitopsv1.PostBuild{SubstituteFrom: []kustomizev1.SubstituteReference{{Kind: "Secret", Name: secret}}}
		default:
			continue
		}
		of := newAttack(t, thief, how, tenant, secret, secret)
		used = append(used, of)
		sources = append(sources, source)
	}
	harness.Write(t, cluster.Client, tenant, sources...)
	harness.Await(t, "Secrets that may be named to be used", func(ctx context.Context) (bool, string) {
		app := fixtures.Application("Postgres", tenant, "shown")
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(app), app); err != nil {
			return false, err.Error()
		}
		spec, _ := app.Object["spec"].(map[string]any)
		told, substituted := thief.knows(used[0].word), spec["password"] == used[1].word
		return told && substituted, fmt.Sprintf("the server was told: %t, the variable is substituted: %t", told, substituted)
	})
	return used
}
