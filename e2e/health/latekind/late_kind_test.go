package latekind_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestReleasesThatComeToBeServedAreWatched applies where no HelmReleases are served, then
// serves them: a failure is found with the next look at the platform, its end by the watch.
// An operator that starts anew tells nobody the same again.
func TestReleasesThatComeToBeServedAreWatched(t *testing.T) {
	operator := harness.WithOperator(t, cluster, harness.Config())
	git := harness.NewGitServer(t)
	namespace := harness.NewTenant(t, cluster.Client, "tenant-latekind")
	repository, commit := harness.NewRepository(t, git, "acme/late-kind", map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")})
	harness.Write(t, cluster.Client, namespace, harness.HTTPS(t, cluster.Client, git, namespace, "apps", repository))
	applied := harness.AwaitApplied(t, cluster.Client, namespace, commit)
	if unready := applied.Status.Sources[0].Unready; unready != 0 {
		t.Errorf("%d are not ready of which nothing is known", unready)
	}

	serveHelmReleases(t, namespace)
	report(t, namespace, metav1.ConditionFalse, "InstallFailed", "the disk is full")
	// What is known of the platform is believed for a second.
	harness.Await(t, "the kind to be noticed", func(context.Context) (bool, string) {
		harness.Request(t, cluster.Client, namespace)
		source := harness.Read(t, cluster.Client, namespace).Status.Sources[0]
		return source.Reason == gitopsv1.ReasonApplicationFailed, source.Reason + ": " + source.Message
	})
	failed := harness.AwaitCondition(t, cluster.Client, namespace, metav1.ConditionFalse, "postgres db failed: the disk is full")

	if err := operator.Stop(); err != nil {
		t.Fatal(err)
	}
	harness.WithOperator(t, cluster, harness.Config())
	harness.Request(t, cluster.Client, namespace)
	requested := harness.Read(t, cluster.Client, namespace).Annotations["reconcile.fluxcd.io/requestedAt"]
	var again *gitopsv1.TenantGitOps
	harness.Await(t, "the new operator to look", func(context.Context) (bool, string) {
		again = harness.Read(t, cluster.Client, namespace)
		return again.Status.LastHandledReconcileAt == requested, again.Status.LastHandledReconcileAt
	})
	before, after := apimeta.FindStatusCondition(failed.Status.Conditions, "Ready"), apimeta.FindStatusCondition(again.Status.Conditions, "Ready")
	if before.LastTransitionTime != after.LastTransitionTime || before.Message != after.Message {
		t.Errorf("before the restart %+v, after it %+v", before, after)
	}

	report(t, namespace, metav1.ConditionTrue, "InstallSucceeded", "fine")
	harness.AwaitCondition(t, cluster.Client, namespace, metav1.ConditionTrue, gitopsv1.ReasonSucceeded)
	report(t, namespace, metav1.ConditionUnknown, "Progressing", "running")
	harness.Await(t, "one that is not ready", func(context.Context) (bool, string) {
		source := harness.Read(t, cluster.Client, namespace).Status.Sources[0]
		return source.Unready == 1 && source.Ready == metav1.ConditionTrue, fmt.Sprintf("%+v", source)
	})
	wantOneEvent(t, namespace)
}

// wantOneEvent says that the failure was told once.
func wantOneEvent(t *testing.T, namespace string) {
	t.Helper()
	var list eventsv1.EventList
	if err := cluster.Client.List(t.Context(), &list, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, event := range list.Items {
		if event.Reason == gitopsv1.ReasonApplicationFailed {
			told = append(told, event.Note)
			if event.Series != nil {
				told = append(told, "again")
			}
		}
	}
	if len(told) != 1 || !strings.Contains(told[0], "source apps: postgres db failed: the disk is full") {
		t.Errorf("the events are %q", told)
	}
}

// serveHelmReleases lays in the kind, as far as it is read, and the release of db.
func serveHelmReleases(t *testing.T, namespace string) {
	t.Helper()
	preserve := true
	anything := &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &preserve}}
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "helmreleases.helm.toolkit.fluxcd.io"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "helm.toolkit.fluxcd.io", Scope: apiextensionsv1.NamespaceScoped,
			Names:    apiextensionsv1.CustomResourceDefinitionNames{Plural: "helmreleases", Singular: "helmrelease", Kind: "HelmRelease", ListKind: "HelmReleaseList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v2", Served: true, Storage: true, Schema: anything}},
		},
	}
	if err := cluster.Client.Create(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	harness.Await(t, "HelmReleases to be served", func(ctx context.Context) (bool, string) {
		err := cluster.Client.Create(ctx, release(namespace))
		return err == nil, fmt.Sprint(err)
	})
}

func release(namespace string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "helm.toolkit.fluxcd.io/v2", "kind": "HelmRelease",
		"metadata": map[string]any{"namespace": namespace, "name": "postgres-db", "labels": map[string]any{
			"apps.cozystack.io/application.kind": "Postgres", "apps.cozystack.io/application.group": fixtures.Group, "apps.cozystack.io/application.name": "db",
		}},
	}}
}

// report says of the release what helm-controller would.
func report(t *testing.T, namespace string, status metav1.ConditionStatus, reason, message string) {
	t.Helper()
	object := release(namespace)
	patch := fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":%q,"reason":%q,"message":%q,"lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`, status, reason, message)
	if err := cluster.Client.Patch(t.Context(), object, client.RawPatch("application/merge-patch+json", []byte(patch))); err != nil {
		t.Fatal(err)
	}
}
