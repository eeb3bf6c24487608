package main

import (
	"context"
	"fmt"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// newTenants makes tenants that have GitOps switched on, and returns what the API
// server would ask when a person in each of them writes a Kustomization.
func newTenants(ctx context.Context, c client.Client, count int) ([][]byte, error) {
	var questions [][]byte
	for i := range count {
		namespace := fmt.Sprintf("tenant-bench%d", i)
		if err := fixtures.CreateTenant(ctx, c, namespace); err != nil {
			return nil, err
		}
		tenant := &gitopsv1.TenantGitOps{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: gitopsv1.TenantGitOpsName},
			Spec: gitopsv1.TenantGitOpsSpec{Sources: []gitopsv1.Source{{
				Name: "unused", Suspend: true, Git: &gitopsv1.GitSource{URL: "https://git.example.org/acme/shop"},
			}}},
		}
		if err := c.Create(ctx, tenant); err != nil {
			return nil, fmt.Errorf("switch GitOps on in %s: %w", namespace, err)
		}
		question, err := harness.KustomizationReview(namespace, &kustomizev1.Kustomization{
			TypeMeta:   metav1.TypeMeta{APIVersion: kustomizev1.GroupVersion.String(), Kind: kustomizev1.KustomizationKind},
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "shop", Labels: map[string]string{"app.kubernetes.io/part-of": "shop"}},
			Spec: kustomizev1.KustomizationSpec{
				Interval: metav1.Duration{Duration: 10 * time.Minute}, Path: "./deploy", Prune: true,
				SourceRef: kustomizev1.CrossNamespaceSourceReference{Kind: sourcev1.GitRepositoryKind, Name: "shop"},
			},
		})
		if err != nil {
			return nil, err
		}
		questions = append(questions, question)
	}
	return questions, nil
}

// settledFor is how long no TenantGitOps may have changed before the measuring begins.
const settledFor = 5 * time.Second

// awaitSettled waits until the operator has brought up all tenants: what is measured is
// the webhook of an operator that runs, not of one that has 50 tenants to start.
func awaitSettled(ctx context.Context, c client.Client, count int) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var before string
	since := time.Now()
	for {
		var tenants gitopsv1.TenantGitOpsList
		if err := c.List(ctx, &tenants); err != nil {
			return fmt.Errorf("list the tenants: %w", err)
		}
		observed, now := 0, ""
		for i := range tenants.Items {
			now += tenants.Items[i].ResourceVersion + " "
			if tenants.Items[i].Status.ObservedGeneration == tenants.Items[i].Generation {
				observed++
			}
		}
		if now != before {
			before, since = now, time.Now()
		}
		if observed == count && time.Since(since) >= settledFor {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the tenants: %d of %d observed: %w", observed, count, ctx.Err())
		case <-time.After(500 * time.Millisecond):
		}
	}
}
