package limits_test

import (
	"context"
	"fmt"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// newLargeRaw makes a GitRepository of a repository that is too large, as an admin.
func newLargeRaw(t *testing.T, git *gitserver.Server, namespace, name string, edit func(*sourcev1.GitRepository, *gitserver.Repository)) *sourcev1.GitRepository {
	t.Helper()
	files, _ := harness.NewRepository(t, git, namespace+"/"+name, map[string]string{"db.yaml": fixtures.Postgres("raw", "1Gi"), largeFile: randomFile(t)})
	repository := rawGit(namespace, name, files)
	edit(repository, files)
	if err := cluster.Client.Create(t.Context(), repository); err != nil {
		t.Fatal(err)
	}
	return repository
}

func deleteTenantGitOps(t *testing.T, namespace string) {
	t.Helper()
	tenant := harness.Read(t, cluster.Client, namespace)
	if err := cluster.Client.Delete(t.Context(), tenant); err != nil {
		t.Fatal(err)
	}
	harness.AwaitGone(t, cluster.Client, tenant)
}

// TestTooLargeSourceFromBeforeTheInstall is held and resumed, though nobody may write it
// as it is.
func TestTooLargeSourceFromBeforeTheInstall(t *testing.T) {
	allow(t, bound)
	harness.WithOperator(t, cluster, harness.Config())
	namespace := harness.NewTenant(t, cluster.Client, "tenant-rawbefore")
	git := harness.NewGitServer(t)
	switchOn(t, git, namespace)
	harness.WriteSecret(t, cluster.Client, namespace, "old", map[string]string{"username": "git", "password": "any"})
	repository := newLargeRaw(t, git, namespace, "before", func(r *sourcev1.GitRepository, files *gitserver.Repository) {
		r.Spec.URL, r.Spec.SecretRef.Name = files.HTTPURL(), "old"
	})
	awaitRaw(t, repository, true)
	allow(t, "1Mi")
	awaitRaw(t, repository, false)
	allow(t, bound)
	awaitRaw(t, repository, true)
	harness.AwaitCondition(t, cluster.Client, namespace, metav1.ConditionTrue, "1 of 1 sources applied")
	deleteTenantGitOps(t, namespace)
}

// refuseToSuspend lets nobody suspend GitRepositories of a name, as somebody else's policy
// might.
func refuseToSuspend(t *testing.T, namespace, name string) {
	t.Helper()
	forbidden := metav1.StatusReasonForbidden
	policy := &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "test-" + namespace},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
					Rule: admissionregistrationv1.Rule{
						APIGroups: []string{sourcev1.GroupVersion.Group}, APIVersions: []string{sourcev1.GroupVersion.Version}, Resources: []string{"gitrepositories"},
					},
				},
			}}},
			Validations: []admissionregistrationv1.Validation{{
				Expression: fmt.Sprintf("request.namespace != '%s' || request.name != '%s' || !object.spec.?suspend.orValue(false)", namespace, name),
				Reason:     &forbidden,
			}},
		},
	}
	binding := &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: policy.Name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: policy.Name, ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	}
	for _, obj := range []client.Object{policy, binding} {
		if err := cluster.Client.Create(t.Context(), obj); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := cluster.Client.Delete(context.Background(), obj); err != nil {
				t.Error(err)
			}
		})
	}
	harness.Await(t, "the policy to refuse", func(ctx context.Context) (bool, string) {
		probe := &sourcev1.GitRepository{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			Spec:       sourcev1.GitRepositorySpec{URL: "https://example.org/any", Suspend: true},
		}
		err := cluster.Client.Create(ctx, probe, client.DryRunAll)
		return apierrors.IsForbidden(err), fmt.Sprint(err)
	})
}

// TestRefusedHoldStopsNothingElse: others are held all the same, what the spec no longer
// asks for is pruned, and the TenantGitOps can go.
func TestRefusedHoldStopsNothingElse(t *testing.T) {
	allow(t, bound)
	harness.WithOperator(t, cluster, harness.Config())
	namespace := harness.NewTenant(t, cluster.Client, "tenant-rawrefused")
	refuseToSuspend(t, namespace, "a")
	git := harness.NewGitServer(t)
	switchOn(t, git, namespace)
	unchanged := func(*sourcev1.GitRepository, *gitserver.Repository) {}
	newLargeRaw(t, git, namespace, "a", unchanged)
	harness.AwaitCondition(t, cluster.Client, namespace, metav1.ConditionFalse, "suspend GitRepository "+namespace+"/a")
	awaitRaw(t, newLargeRaw(t, git, namespace, "b", unchanged), true)

	files, _ := harness.NewRepository(t, git, namespace+"/next", map[string]string{"bucket.yaml": fixtures.Bucket("next")})
	harness.Write(t, cluster.Client, namespace, harness.HTTPS(t, cluster.Client, git, namespace, "next", files))
	harness.AwaitExists(t, cluster.Client, fixtures.Application("Bucket", namespace, "next"))
	harness.AwaitGone(t, cluster.Client, &sourcev1.GitRepository{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "gitops-base"}})
	deleteTenantGitOps(t, namespace)
}
