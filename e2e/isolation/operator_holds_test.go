package isolation_test

import (
	"testing"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/attempts"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/manifests"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

// TestOperatorHoldsWhatWasThereBefore suspends and resumes, as the operator, sources that
// are as no tenant may write them; nothing else of them may it write.
func TestOperatorHoldsWhatWasThereBefore(t *testing.T) {
	const namespace = "tenant-holdsbefore"
	newTenantAdmin(t, namespace)
	tenant := &gitopsv1.TenantGitOps{}
	tenant.Namespace, tenant.Name = namespace, gitopsv1.TenantGitOpsName
	bindings, err := stamp.SelfBindings(stamp.Input{Tenant: tenant, Config: harness.Config().Stamp})
	if err != nil {
		t.Fatal(err)
	}
	if err := manifests.Apply(t.Context(), cluster.Client, bindings...); err != nil {
		t.Fatal(err)
	}
	operator := user(t, "system:serviceaccount:cozy-gitops:gitops-operator")
	// The Secret is missing, so nothing is fetched.
	old := both(attempts.Field("spec.secretRef", attempts.Named("old")), attempts.Field("spec.ref", map[string]any{"tag": "1"}), attempts.Field("spec.interval", "1s"), attempts.Field("spec.timeout", "60m"),
		// With this name the policy of what the operator may write has nothing against it.
		func(o *object) { o.SetName("gitops-old") })
	hold := both(annotated("digest"), attempts.Field("spec.suspend", true))
	resume := both(annotated(""), attempts.Without("spec.suspend"))
	git, oci := attempts.GitRepository(namespace), attempts.OCIRepository(namespace)
	attempts.Set(git, "http://10.0.0.1/apps", "spec", "url")
	attempts.Set(oci, "oci://10.0.0.1/apps", "spec", "url")
	for _, source := range []*object{git, oci} {
		old(source)
		for _, step := range []struct {
			name           string
			stored, change attempts.Change
		}{
			{"hold", resume, hold},
			{"resume", hold, resume},
		} {
			stored := source.DeepCopy()
			step.stored(stored)
			createGood(t, cluster.Client, stored)
			for _, way := range []string{"patch", "apply"} {
				t.Run(source.GetKind()+"/"+step.name+"/"+way, func(t *testing.T) {
					if err := write(t.Context(), way, operator, source, step.change); err != nil {
						t.Errorf("refused: %v", err)
					}
					for what, more := range map[string]attempts.Change{
						"a longer interval": attempts.Field("spec.interval", "2s"),
						"another ref":       attempts.Field("spec.ref", map[string]any{"tag": "2"}),
						"no Secret":         attempts.Without("spec.secretRef"),
						"no ref":            attempts.Without("spec.ref"),
						"a shard":           attempts.Label("sharding.fluxcd.io/key", "any"),
					} {
						if err := write(t.Context(), way, operator, source, both(step.change, more)); !refused(err) {
							t.Errorf("with %s it was not refused: %v", what, err)
						}
					}
				})
			}
		}
	}
}
