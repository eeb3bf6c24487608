package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

func TestKustomizeControllerAppliesAndPrunes(t *testing.T) {
	const namespace = "tenant-flux"
	newTenant(t, namespace)
	server := harness.NewGitServer(t)
	repository, commit := harness.NewRepository(t, server, "apps", map[string]string{
		"db.yaml": fixtures.Postgres("db", "1Gi"), "cache.yaml": fixtures.Redis("cache", 2),
	})
	harness.WriteSecret(t, cluster.Client, namespace, harness.CASecret, map[string]string{"ca.crt": server.CertificateAuthority})
	source := &sourcev1.GitRepository{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "apps"},
		Spec: sourcev1.GitRepositorySpec{
			URL: repository.HTTPSURL(), Interval: metav1.Duration{Duration: time.Second},
			Reference: &sourcev1.GitRepositoryRef{Branch: gitserver.DefaultBranch},
			SecretRef: &meta.LocalObjectReference{Name: harness.CASecret},
		},
	}
	kustomization := &kustomizev1.Kustomization{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "apps"},
		Spec: kustomizev1.KustomizationSpec{
			SourceRef: kustomizev1.CrossNamespaceSourceReference{Kind: "GitRepository", Name: "apps"},
			Interval:  metav1.Duration{Duration: time.Second}, Prune: true, TargetNamespace: namespace,
		},
	}
	create(t, source)
	create(t, kustomization)
	awaitRevision(t, kustomization, commit)
	want(t, read(t, namespace, "db"), "apps", "metadata", "labels", "kustomize.toolkit.fluxcd.io/name")
	want(t, stored(t, "Postgres", namespace, "db"), "apps", "metadata", "labels", "apps.cozystack.io-kustomize.toolkit.fluxcd.io/name")

	commit = harness.Commit(t, repository, map[string]string{"db.yaml": fixtures.Postgres("db", "2Gi")}, "cache.yaml")
	awaitRevision(t, kustomization, commit)
	want(t, read(t, namespace, "db"), "2Gi", "spec", "size")
	harness.AwaitGone(t, cluster.Client, fixtures.Application("Redis", namespace, "cache"))
	if err := cluster.Client.Delete(t.Context(), kustomization); err != nil {
		t.Fatal(err)
	}
	harness.AwaitGone(t, cluster.Client, fixtures.Application("Postgres", namespace, "db"))
}

func awaitRevision(t *testing.T, kustomization *kustomizev1.Kustomization, commit string) {
	t.Helper()
	harness.Await(t, "commit "+commit+" applied", func(ctx context.Context) (bool, string) {
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(kustomization), kustomization); err != nil {
			return false, err.Error()
		}
		ready := apimeta.FindStatusCondition(kustomization.Status.Conditions, "Ready")
		applied := kustomization.Status.LastAppliedRevision == gitserver.DefaultBranch+"@sha1:"+commit
		return applied && ready != nil && ready.Status == metav1.ConditionTrue, fmt.Sprintf("%+v", kustomization.Status)
	})
}
