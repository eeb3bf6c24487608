//go:build kind

package pods_test

import (
	"fmt"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/suites"
)

// TestAccountsAreHeldToTheirTenant acts with the token of a tenant's controller, and as
// the account that git acts as, impersonated as the controller does it.
func TestAccountsAreHeldToTheirTenant(t *testing.T) {
	t.Parallel()
	const tenant, other = "tenant-rights", "tenant-rightsb"
	files := map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")}
	_, commit := stage.Enable(t, tenant, files, nil)
	_, otherCommit := stage.Enable(t, other, files, nil)
	harness.AwaitApplied(t, stage.Client, tenant, commit)
	harness.AwaitApplied(t, stage.Client, other, otherCommit)
	account := stage.ControllerPod(t, tenant).Spec.ServiceAccountName
	kustomization := client.ObjectKey{Name: "gitops-apps"}

	t.Run("the controller's", func(t *testing.T) {
		controller := actAs(t, account, "")
		key := kustomization
		key.Namespace = tenant
		if err := controller.Get(t.Context(), key, &kustomizev1.Kustomization{}); err != nil {
			t.Errorf("get its own Kustomization: %v", err)
		}
		key.Namespace = other
		wantForbidden(t, "get another tenant's Kustomization", controller.Get(t.Context(), key, &kustomizev1.Kustomization{}))
		for _, namespace := range []string{tenant, other, suites.ControllersNamespace, ""} {
			what := fmt.Sprintf("list the Secrets of namespace %q", namespace)
			wantForbidden(t, what, controller.List(t.Context(), &corev1.SecretList{}, client.InNamespace(namespace)))
		}
		wantForbidden(t, "get the platform's values", controller.Get(t.Context(), client.ObjectKey{Namespace: tenant, Name: "cozystack-values"}, &corev1.Secret{}))
		wantForbidden(t, "create an application itself", controller.Create(t.Context(), application("Postgres", tenant), client.DryRunAll))
	})
	t.Run("git's", func(t *testing.T) {
		git := actAs(t, account, "system:serviceaccount:"+tenant+":"+tenant+"-gitops")
		if err := git.Create(t.Context(), application("Postgres", tenant), client.DryRunAll); err != nil {
			t.Errorf("create an application: %v", err)
		}
		meta := metav1.ObjectMeta{Namespace: tenant, Name: "escape"}
		for what, object := range map[string]client.Object{
			"a Kustomization":                  &kustomizev1.Kustomization{ObjectMeta: meta},
			"a Deployment":                     &appsv1.Deployment{ObjectMeta: meta},
			"a Secret":                         &corev1.Secret{ObjectMeta: meta},
			"the gitops application":           application("GitOps", tenant),
			"an application only admins order": application("Monitoring", tenant),
			"an application of another tenant": application("Postgres", other),
		} {
			wantForbidden(t, "create "+what, git.Create(t.Context(), object, client.DryRunAll))
		}
	})
	t.Run("another tenant's git's", func(t *testing.T) {
		git := actAs(t, account, "system:serviceaccount:"+other+":"+other+"-gitops")
		wantForbidden(t, "impersonate it", git.Create(t.Context(), application("Postgres", other), client.DryRunAll))
	})
}

// actAs returns a client with a token of a controller's account, which impersonates the
// user if one is given.
func actAs(t *testing.T, account, user string) client.Client {
	t.Helper()
	token, err := stage.Clients.CoreV1().ServiceAccounts(suites.ControllersNamespace).CreateToken(t.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config := rest.AnonymousClientConfig(stage.Cluster.RESTConfig)
	config.BearerToken, config.Impersonate.UserName = token.Status.Token, user
	// The mapping is the administrator's: discovery is not what is tried here.
	acting, err := client.New(config, client.Options{Scheme: stage.Client.Scheme(), Mapper: stage.Client.RESTMapper()})
	if err != nil {
		t.Fatal(err)
	}
	return acting
}

func application(kind, namespace string) *unstructured.Unstructured {
	return fixtures.Application(kind, namespace, "tried")
}

func wantForbidden(t *testing.T, what string, err error) {
	t.Helper()
	if !apierrors.IsForbidden(err) {
		t.Errorf("%s: want it forbidden, got %v", what, err)
	}
}
