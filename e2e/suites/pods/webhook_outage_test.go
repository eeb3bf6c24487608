//go:build kind

package pods_test

import (
	"context"
	"fmt"
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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/suites"
	"github.com/cozystack/gitops-operator/internal/operator"
)

// duringOutage is the name of all that is written while no operator runs.
const duringOutage = "during-the-outage"

// TestWritesWhileNoOperatorRuns scales the operator to nothing, writes all over the
// cluster, and deletes a Kustomization, whose own controller takes its finalizer off.
func TestWritesWhileNoOperatorRuns(t *testing.T) {
	const tenant = "tenant-outage"
	_, commit := stage.Enable(t, tenant, map[string]string{
		"apps/db.yaml": fixtures.Postgres("db", "1Gi"), "more/cache.yaml": fixtures.Redis("cache", 1),
	}, func(source *gitopsv1.Source) { source.Path = "./apps" })
	harness.AwaitApplied(t, stage.Client, tenant, commit)
	ann := kustomizationWriter(t, tenant)
	held := kustomization(tenant, "more")
	if err := ann.Create(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	harness.AwaitExists(t, stage.Client, fixtures.Application("Redis", tenant, "cache"))
	if err := stage.Client.Get(t.Context(), client.ObjectKeyFromObject(held), held); err != nil {
		t.Fatal(err)
	}
	if !controllerutil.ContainsFinalizer(held, kustomizev1.KustomizationFinalizer) {
		t.Fatalf("its controller does not hold the Kustomization: finalizers %v", held.Finalizers)
	}

	scaleOperator(t, 0)
	t.Cleanup(func() { scaleOperator(t, 2) })
	err := ann.Create(t.Context(), kustomization(tenant, duringOutage))
	if err == nil || !strings.Contains(err.Error(), "failed calling webhook") {
		t.Fatalf("a Kustomization that nobody answered for: %v", err)
	}
	writes := writesOfAnOutage(tenant, ann)
	for what, write := range writes {
		if err := write(t.Context()); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	t.Logf("%d kinds of writes without an operator", len(writes))

	if err := ann.Delete(t.Context(), held); err != nil {
		t.Fatal(err)
	}
	harness.AwaitGone(t, stage.Client, held)
	if err := stage.Client.Get(t.Context(), client.ObjectKey{Namespace: tenant, Name: "cache"}, fixtures.Application("Redis", tenant, "cache")); err != nil {
		t.Errorf("the application went with its Kustomization, which orphans: %v", err)
	}

	scaleOperator(t, 2)
	again := kustomization(tenant, "afterwards")
	// The Service's address leads to the new pods a moment after they are ready.
	harness.Await(t, "a Kustomization to be answered for again", func(ctx context.Context) (bool, string) {
		err := ann.Create(ctx, again)
		return err == nil, fmt.Sprint(err)
	})
	if again.Spec.ServiceAccountName != tenant+"-gitops" {
		t.Errorf("it runs as %q", again.Spec.ServiceAccountName)
	}
}

// writesOfAnOutage are writes that must work while nobody answers for the webhooks, by
// what is written. A tenant's person writes the application.
func writesOfAnOutage(tenant string, person client.Client) map[string]func(context.Context) error {
	c := stage.Client
	in := func(namespace string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: duringOutage, Labels: map[string]string{"app": "x"}}
	}
	create := func(object client.Object) func(context.Context) error {
		return func(ctx context.Context) error { return c.Create(ctx, object) }
	}
	merge := func(object client.Object, patch string) func(context.Context) error {
		return func(ctx context.Context) error {
			return c.Patch(ctx, object, client.RawPatch("application/merge-patch+json", []byte(patch)))
		}
	}
	// On no node, so that no image is asked for.
	pod := corev1.PodSpec{NodeSelector: map[string]string{"example.org/none": "is"}, Containers: []corev1.Container{{Name: "x", Image: "example.org/x:1"}}}
	pods := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "x"}}, Spec: pod}
	once := *pods.DeepCopy()
	once.Spec.RestartPolicy = corev1.RestartPolicyNever
	elsewhere := kustomization("default", duringOutage)
	elsewhere.Spec.Suspend = true
	stamped := &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: "gitops-apps"}}
	return map[string]func(context.Context) error{
		"a Pod":         create(&corev1.Pod{ObjectMeta: in(tenant), Spec: pod}),
		"a Deployment":  create(&appsv1.Deployment{ObjectMeta: in(tenant), Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: pods.Labels}, Template: pods}}),
		"a Job":         create(&batchv1.Job{ObjectMeta: in(tenant), Spec: batchv1.JobSpec{Suspend: new(true), Template: once}}),
		"a ConfigMap":   create(&corev1.ConfigMap{ObjectMeta: in(tenant)}),
		"a Secret":      create(&corev1.Secret{ObjectMeta: in(tenant)}),
		"a Service":     create(&corev1.Service{ObjectMeta: in(tenant), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}),
		"a RoleBinding": create(&rbacv1.RoleBinding{ObjectMeta: in(tenant), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"}}),
		"a tenant's namespace": create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
			Name: "tenant-" + duringOutage, Labels: map[string]string{"app": "x"},
		}}),
		"a HelmRelease": create(helmRelease(tenant)),
		"a label of a Node": func(ctx context.Context) error {
			nodes := &corev1.NodeList{}
			if err := c.List(ctx, nodes); err != nil {
				return err
			}
			return merge(&nodes.Items[0], `{"metadata":{"labels":{"example.org/note":"x"}}}`)(ctx)
		},
		"a Kustomization outside of tenants": create(elsewhere),
		"the status of a tenant's Kustomization": func(ctx context.Context) error {
			return c.Status().Patch(ctx, stamped.DeepCopy(), client.RawPatch("application/merge-patch+json", []byte(`{"status":{"lastHandledReconcileAt":"x"}}`)))
		},
		"an annotation of a source": merge(&sourcev1.GitRepository{ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: "gitops-apps"}}, `{"metadata":{"annotations":{"example.org/note":"x"}}}`),
		"a TenantGitOps":            merge(&gitopsv1.TenantGitOps{ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: gitopsv1.TenantGitOpsName}}, `{"metadata":{"annotations":{"example.org/note":"x"}}}`),
		"an application that git does not manage": func(ctx context.Context) error {
			return person.Create(ctx, fixtures.Application("Postgres", tenant, duringOutage))
		},
	}
}

func helmRelease(namespace string) *unstructured.Unstructured {
	release := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
		"spec": map[string]any{"interval": "5m", "chartRef": map[string]any{"kind": "ExternalArtifact", "name": "x"}},
	}}
	release.SetNamespace(namespace)
	release.SetName(duringOutage)
	return release
}

// kustomization applies the folder of the tenant's repository that its source leaves out.
func kustomization(namespace, name string) *kustomizev1.Kustomization {
	return &kustomizev1.Kustomization{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: kustomizev1.KustomizationSpec{
			Interval: metav1.Duration{Duration: 10 * time.Minute}, Path: "./more", TargetNamespace: namespace, Prune: true,
			SourceRef: kustomizev1.CrossNamespaceSourceReference{Kind: sourcev1.GitRepositoryKind, Name: "gitops-apps"},
		},
	}
}

// kustomizationWriter is an admin of the tenant who may write Kustomizations too.
func kustomizationWriter(t *testing.T, namespace string) client.Client {
	t.Helper()
	const person = "ann"
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "writes-kustomizations"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{kustomizev1.GroupVersion.Group}, Resources: []string{"kustomizations"}, Verbs: []string{"get", "create", "update", "patch", "delete"}}},
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: person}},
	}
	for _, object := range []client.Object{role, binding} {
		if err := stage.Client.Create(t.Context(), object); client.IgnoreAlreadyExists(err) != nil {
			t.Fatal(err)
		}
	}
	config := rest.CopyConfig(stage.Cluster.RESTConfig)
	config.Impersonate = rest.ImpersonationConfig{UserName: person, Groups: []string{namespace + "-admin", "system:authenticated"}}
	c, err := client.New(config, client.Options{Scheme: operator.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// scaleOperator waits until so many replicas of the operator serve, and no other does.
func scaleOperator(t *testing.T, replicas int) {
	t.Helper()
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: suites.OperatorNamespace, Name: suites.OperatorName}}
	patch := fmt.Sprintf(`{"spec":{"replicas":%d}}`, replicas)
	// Also in a cleanup, when the test's context is over.
	ctx := context.Background()
	if err := stage.Client.Patch(ctx, deployment, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		t.Fatal(err)
	}
	if replicas > 0 {
		if err := stage.Cluster.AwaitDeployment(ctx, suites.OperatorNamespace, suites.OperatorName); err != nil {
			t.Fatal(err)
		}
		return
	}
	harness.Await(t, "the operator's pods to be gone", func(ctx context.Context) (bool, string) {
		pods := &corev1.PodList{}
		err := stage.Client.List(ctx, pods, client.InNamespace(suites.OperatorNamespace), client.MatchingLabels{"app.kubernetes.io/name": suites.OperatorName})
		return err == nil && len(pods.Items) == 0, fmt.Sprintf("%d pods, %v", len(pods.Items), err)
	})
}
