package webhook_test

import (
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

const shard = "sharding.fluxcd.io/key"

// kustomization is suspended: its controller is not what is tested.
func kustomization(namespace, name string) *kustomizev1.Kustomization {
	return &kustomizev1.Kustomization{
		TypeMeta:   metav1.TypeMeta{APIVersion: kustomizev1.GroupVersion.String(), Kind: kustomizev1.KustomizationKind},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: kustomizev1.KustomizationSpec{
			Interval: metav1.Duration{Duration: time.Minute}, Suspend: true,
			SourceRef: kustomizev1.CrossNamespaceSourceReference{Kind: "GitRepository", Name: "shop"},
		},
	}
}

// switchOn makes a TenantGitOps that is suspended and whose source is never fetched.
func switchOn(t *testing.T, namespace string) {
	t.Helper()
	harness.Write(t, cluster.Client, namespace, gitopsv1.Source{Name: "unused", Git: &gitopsv1.GitSource{URL: "https://git.example.org/acme/shop"}, Suspend: true})
}

func TestWhatATenantWritesIsStamped(t *testing.T) {
	harness.WithOperator(t, cluster, harness.Config())
	tenant := harness.NewTenant(t, cluster.Client, "tenant-stamped")
	user := tenantUser(t, tenant)

	err := user.Create(t.Context(), kustomization(tenant, "early"))
	if err == nil || !strings.Contains(err.Error(), "create the TenantGitOps gitops in tenant-stamped first") {
		t.Fatalf("without a TenantGitOps: got %v", err)
	}
	switchOn(t, tenant)
	live := kustomization(tenant, "shop")
	expect := func(how string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", how, err)
		}
		if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(live), live); err != nil {
			t.Fatal(err)
		}
		if live.Labels[shard] != tenant || live.Spec.ServiceAccountName != tenant+"-gitops" || live.Spec.DeletionPolicy != "Orphan" {
			t.Fatalf("%s: label %q, account %q, policy %q", how, live.Labels[shard], live.Spec.ServiceAccountName, live.Spec.DeletionPolicy)
		}
	}
	// At once: the cache need not know of the TenantGitOps yet.
	expect("create", user.Create(t.Context(), kustomization(tenant, "shop")))
	bare := kustomization(tenant, "shop")
	bare.ResourceVersion, bare.Finalizers = live.ResourceVersion, live.Finalizers
	expect("replace without the label", user.Update(t.Context(), bare))
	patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"`+shard+`":"tenant-victim"}},"spec":{"serviceAccountName":"admin"}}`))
	expect("patch to another tenant", user.Patch(t.Context(), kustomization(tenant, "shop"), patch))
	none := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":null},"spec":{"serviceAccountName":null,"deletionPolicy":null}}`))
	expect("patch to nothing", user.Patch(t.Context(), kustomization(tenant, "shop"), none))
	applied := kustomization(tenant, "shop")
	applied.Labels = map[string]string{shard: "tenant-victim"}
	applied.Spec.ServiceAccountName = "admin"
	expect("apply", user.Patch(t.Context(), applied, client.Apply, client.ForceOwnership, client.FieldOwner("ann"))) //nolint:staticcheck // the form of apply that takes a typed object
}

// TestOnlyWhatItAnswersForStopsWithIt writes all over the cluster while nobody answers.
func TestOnlyWhatItAnswersForStopsWithIt(t *testing.T) {
	first := harness.WithOperator(t, cluster, harness.Config())
	tenant := harness.NewTenant(t, cluster.Client, "tenant-outage")
	user := tenantUser(t, tenant)
	switchOn(t, tenant)
	held := kustomization(tenant, "held")
	// Somebody's controller that holds it, here this test.
	held.Finalizers = []string{"example.org/held"}
	if err := user.Create(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	stop(t, first)

	if err := user.Create(t.Context(), kustomization(tenant, "refused")); err == nil {
		t.Error("a Kustomization passed while nobody answered")
	}
	in := func(namespace string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: "during-the-outage", Labels: map[string]string{"app": "x"}}
	}
	pods := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "x"}},
		Spec:       corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "x", Image: "example.org/x:1"}}},
	}
	always := pods
	always.Spec.RestartPolicy = corev1.RestartPolicyAlways
	elsewhere := kustomization("default", "during-the-outage")
	changed := harness.Read(t, cluster.Client, tenant)
	changed.Labels = map[string]string{"note": "x"}
	if err := cluster.Client.Update(t.Context(), changed); err != nil {
		t.Errorf("TenantGitOps: %v", err)
	}
	for _, object := range []client.Object{
		&corev1.Pod{ObjectMeta: in(tenant), Spec: pods.Spec},
		&appsv1.Deployment{ObjectMeta: in(tenant), Spec: appsv1.DeploymentSpec{Replicas: new(int32), Selector: &metav1.LabelSelector{MatchLabels: pods.Labels}, Template: always}},
		&corev1.ConfigMap{ObjectMeta: in(tenant)},
		&corev1.Secret{ObjectMeta: in(tenant)},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "during-the-outage"}},
		&rbacv1.RoleBinding{ObjectMeta: in(tenant), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"}},
		&corev1.Service{ObjectMeta: in(tenant), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}},
		&batchv1.Job{ObjectMeta: in(tenant), Spec: batchv1.JobSpec{Suspend: new(true), Template: pods}},
		&sourcev1.GitRepository{ObjectMeta: in(tenant), Spec: sourcev1.GitRepositorySpec{URL: "https://git.example.org/x", Suspend: true, Interval: metav1.Duration{Duration: time.Minute}}},
		fixtures.Application("Postgres", tenant, "during-the-outage"),
		elsewhere,
	} {
		if err := cluster.Client.Create(t.Context(), object); err != nil {
			t.Errorf("%T: %v", object, err)
		}
	}

	if err := user.Delete(t.Context(), kustomization(tenant, "held")); err != nil {
		t.Fatal(err)
	}
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(held), held); err != nil {
		t.Fatal(err)
	}
	stolen := held.DeepCopy()
	stolen.Finalizers, stolen.Spec.ServiceAccountName = nil, "admin"
	if err := user.Update(t.Context(), stolen); err == nil {
		t.Error("a Kustomization that is being deleted was given another account while nobody answered")
	}
	held.Finalizers = nil
	if err := user.Update(t.Context(), held); err != nil {
		t.Errorf("the finalizer cannot be taken off: %v", err)
	}
	harness.AwaitGone(t, cluster.Client, held)
}
