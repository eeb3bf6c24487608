package pruneguard_test

import (
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	operatorscheme "github.com/cozystack/gitops-operator/internal/operator"
)

// follow notes every state that a source's status is written with, until it is asked.
func follow(t *testing.T, namespace, source string) func() []string {
	t.Helper()
	c, err := client.NewWithWatch(cluster.Config, client.Options{Scheme: operatorscheme.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	// From now on: the watch begins with what is there.
	w, err := c.Watch(t.Context(), &gitopsv1.TenantGitOpsList{}, client.InNamespace(namespace))
	if err != nil {
		t.Fatal(err)
	}
	var states []string
	var reading sync.WaitGroup
	reading.Go(func() {
		for event := range w.ResultChan() {
			tenant, isTenant := event.Object.(*gitopsv1.TenantGitOps)
			if !isTenant {
				continue
			}
			for _, status := range tenant.Status.Sources {
				if status.Name == source {
					states = append(states, string(status.Ready)+" "+status.Reason)
				}
			}
		}
	})
	return func() []string {
		w.Stop()
		reading.Wait()
		return states
	}
}

// wantNeverFailed fails if a source was called a failure.
func wantNeverFailed(t *testing.T, states []string) {
	t.Helper()
	if len(states) < 2 {
		t.Errorf("only %v was seen of the source", states)
	}
	for _, state := range states {
		if len(state) >= len(metav1.ConditionFalse) && state[:len(metav1.ConditionFalse)] == string(metav1.ConditionFalse) {
			t.Errorf("on its way the source was %s", state)
		}
	}
}
