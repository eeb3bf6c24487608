package escapes_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/names"
)

// tenantController is a tenant's own kustomize-controller, and what holds it.
type tenantController struct {
	tenant string
	// flags: it runs with the flags that the operator stamps.
	flags bool
	// roles: its account and git's have the Roles that the operator stamps, and no more.
	roles bool
}

// controllers are one for each way to take a layer away.
var controllers = []tenantController{
	{tenant: "tenant-heldbyboth", flags: true, roles: true},
	{tenant: "tenant-heldbyflags", flags: true},
	{tenant: "tenant-heldbyroles", roles: true},
	{tenant: "tenant-heldbynothing"},
}

// freed are the flags in place of those that hold a controller. With Roles in one
// namespace alone it can watch no other; without them it watches all.
func (c tenantController) freed(args []string) []string {
	args = slices.DeleteFunc(slices.Clone(args), func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return slices.Contains([]string{
			"--watch-all-namespaces", "--no-cross-namespace-refs", "--no-remote-bases", "--default-service-account", "--feature-gates",
		}, name)
	})
	return append(args, fmt.Sprintf("--watch-all-namespaces=%t", !c.roles),
		"--feature-gates=DisableConfigWatchers=true,ExternalArtifact=true,ObjectLevelWorkloadIdentity=true")
}

// stampControllers has an operator stamp a controller for each tenant.
func stampControllers(t *testing.T) {
	t.Helper()
	for _, c := range controllers {
		harness.NewTenant(t, cluster.Client, c.tenant)
		harness.Write(t, cluster.Client, c.tenant, gitopsv1.Source{
			Name: "unused", Suspend: true, Git: &gitopsv1.GitSource{URL: "https://git.example.org/acme/unused"},
		})
	}
	for _, c := range controllers {
		awaitController(t, c)
	}
}

// freeControllers takes the layers away. No operator may run, which would put all right.
func freeControllers(t *testing.T) {
	t.Helper()
	for _, c := range controllers {
		if !c.roles {
			liftRoles(t, c.tenant)
		}
		if c.flags {
			continue
		}
		deployment := c.deployment()
		if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(deployment), deployment); err != nil {
			t.Fatal(err)
		}
		container := &deployment.Spec.Template.Spec.Containers[0]
		container.Args = c.freed(container.Args)
		if err := cluster.Client.Update(t.Context(), deployment); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range controllers {
		awaitController(t, c)
	}
}

func (c tenantController) deployment() *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: harness.Config().Stamp.ControllersNamespace, Name: names.Controller(c.tenant)}}
}

func awaitController(t *testing.T, c tenantController) {
	t.Helper()
	deployment := c.deployment()
	harness.Await(t, "the controller of "+c.tenant, func(ctx context.Context) (bool, string) {
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(deployment), deployment); err != nil {
			return false, err.Error()
		}
		return deployment.Status.ObservedGeneration == deployment.Generation && deployment.Status.ReadyReplicas == 1, fmt.Sprint(deployment.Status)
	})
}

// liftRoles lets the accounts of a tenant's controller and of its git do everything.
func liftRoles(t *testing.T, tenant string) {
	t.Helper()
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: tenant},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects: []rbacv1.Subject{
			{Kind: rbacv1.ServiceAccountKind, Namespace: harness.Config().Stamp.ControllersNamespace, Name: names.Controller(tenant)},
			{Kind: rbacv1.ServiceAccountKind, Namespace: tenant, Name: names.GitAccount(tenant)},
		},
	}
	if err := cluster.Client.Create(t.Context(), binding); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.IgnoreNotFound(cluster.Client.Delete(context.Background(), binding)); err != nil {
			t.Error(err)
		}
	})
}
