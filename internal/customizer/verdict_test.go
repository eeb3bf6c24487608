package customizer_test

import (
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/customizer"
	"github.com/cozystack/gitops-operator/internal/fluxstatus"
)

const (
	older = "main@sha1:aaaa"
	newer = "main@sha1:bbbb"
)

func ready(status metav1.ConditionStatus, reason, message string) []metav1.Condition {
	return []metav1.Condition{{Type: meta.ReadyCondition, Status: status, Reason: reason, Message: message, ObservedGeneration: 1}}
}

// fetched is a source with an artifact of a revision.
func fetched(revision string, conditions []metav1.Condition) *fluxstatus.Fetched {
	f := &fluxstatus.Fetched{Generation: 1, Conditions: conditions}
	if revision != "" {
		f.Artifact = &meta.Artifact{Revision: revision}
	}
	return f
}

func applied(revision string, conditions []metav1.Condition) *kustomizev1.Kustomization {
	k := &kustomizev1.Kustomization{ObjectMeta: metav1.ObjectMeta{Generation: 1}}
	k.Status.Conditions, k.Status.LastAppliedRevision = conditions, revision
	return k
}

// TestJudge: the first thing that is wrong on the way from the repository to the cluster, with the
// mend.
func TestJudge(t *testing.T) {
	good := ready(metav1.ConditionTrue, "Succeeded", "stored artifact")
	onTheWay := ready(metav1.ConditionUnknown, meta.ProgressingReason, "reconciliation in progress")
	denied := ready(metav1.ConditionFalse, meta.ReconciliationFailedReason, `roles is forbidden: User "system:serviceaccount:cozy-system:cozystack-customizer" cannot patch`)
	undecryptable := ready(metav1.ConditionFalse, meta.BuildFailedReason, "cannot get sops data key: failed to decrypt")
	fetchFailed := ready(metav1.ConditionFalse, sourcev1.AuthenticationFailedReason, "authentication required")
	said := func(status metav1.ConditionStatus, reason, revision string) func(*gitopsv1.Customizer) {
		return func(c *gitopsv1.Customizer) {
			c.Generation = 1
			c.Status.Conditions, c.Status.Revision = ready(status, reason, "as before"), revision
		}
	}
	for name, tc := range map[string]struct {
		with   func(*gitopsv1.Customizer)
		seen   customizer.Seen
		status metav1.ConditionStatus
		reason string
		parts  []string
	}{
		"suspended": {
			with:   func(c *gitopsv1.Customizer) { c.Spec.Suspend = true },
			seen:   customizer.Seen{Fetched: fetched("", fetchFailed)},
			status: metav1.ConditionTrue, reason: gitopsv1.ReasonSuspended,
		},
		"no source yet":        {status: metav1.ConditionUnknown, reason: gitopsv1.ReasonProgressing, parts: []string{"waiting for the repository to be fetched"}},
		"a source that is new": {seen: customizer.Seen{Fetched: fetched("", nil)}, status: metav1.ConditionUnknown, reason: gitopsv1.ReasonProgressing, parts: []string{"fetching"}},
		"a source that fails": {
			seen:   customizer.Seen{Fetched: fetched("", fetchFailed)},
			status: metav1.ConditionFalse, reason: sourcev1.AuthenticationFailedReason,
			parts: []string{"cannot fetch the repository: authentication required", "Secret cozy-system/platform.gitops must hold username and password"},
		},
		"a source over SSH that fails": {
			with:   func(c *gitopsv1.Customizer) { c.Spec.Source.Git.URL = "ssh://git@git.example.org/acme" },
			seen:   customizer.Seen{Fetched: fetched("", fetchFailed)},
			status: metav1.ConditionFalse, reason: sourcev1.AuthenticationFailedReason, parts: []string{"identity and known_hosts"},
		},
		"a source without a Secret that fails": {
			with:   func(c *gitopsv1.Customizer) { c.Spec.Source.Git.SecretRef = nil },
			seen:   customizer.Seen{Fetched: fetched("", fetchFailed)},
			status: metav1.ConditionFalse, reason: sourcev1.AuthenticationFailedReason, parts: []string{"spec.source.git.secretRef"},
		},
		"fetched, and no Kustomization yet": {seen: customizer.Seen{Fetched: fetched(newer, good)}, status: metav1.ConditionUnknown, reason: gitopsv1.ReasonProgressing, parts: []string{"waiting for the repository to be applied"}},
		"being applied":                     {seen: customizer.Seen{Fetched: fetched(newer, good), Kustomization: applied("", onTheWay)}, status: metav1.ConditionUnknown, reason: gitopsv1.ReasonProgressing},
		"applied":                           {seen: customizer.Seen{Fetched: fetched(newer, good), Kustomization: applied(newer, good)}, status: metav1.ConditionTrue, reason: gitopsv1.ReasonSucceeded, parts: []string{newer}},
		"the one before is applied":         {seen: customizer.Seen{Fetched: fetched(newer, good), Kustomization: applied(older, good)}, status: metav1.ConditionUnknown, reason: gitopsv1.ReasonProgressing, parts: []string{newer}},
		"not allowed": {
			seen:   customizer.Seen{Fetched: fetched(newer, good), Kustomization: applied(older, denied)},
			status: metav1.ConditionFalse, reason: meta.ReconciliationFailedReason, parts: []string{"spec.rbac.ownedNamespaces", "spec.rbac.extraRules"},
		},
		"not allowed to override only": {
			with:   func(c *gitopsv1.Customizer) { c.Spec.RBAC.Profile = gitopsv1.ProfileOverridesOnly },
			seen:   customizer.Seen{Fetched: fetched(newer, good), Kustomization: applied(older, denied)},
			status: metav1.ConditionFalse, reason: meta.ReconciliationFailedReason, parts: []string{"may write PackageValues only"},
		},
		"not to be decrypted": {
			with: func(c *gitopsv1.Customizer) {
				c.Spec.Kustomization.Decryption = &gitopsv1.Decryption{Provider: "sops", SecretRef: &meta.LocalObjectReference{Name: "sops.gitops"}}
			},
			seen:   customizer.Seen{Fetched: fetched(newer, good), Kustomization: applied(older, undecryptable)},
			status: metav1.ConditionFalse, reason: meta.BuildFailedReason, parts: []string{"cozy-system/sops.gitops", ".agekey"},
		},
		"applied once more": {
			with:   said(metav1.ConditionTrue, gitopsv1.ReasonSucceeded, newer),
			seen:   customizer.Seen{Fetched: fetched(newer, good), Kustomization: applied(newer, onTheWay)},
			status: metav1.ConditionTrue, reason: gitopsv1.ReasonSucceeded, parts: []string{"as before"},
		},
		"what failed is tried once more": {
			with:   said(metav1.ConditionFalse, meta.ReconciliationFailedReason, newer),
			seen:   customizer.Seen{Fetched: fetched(newer, good), Kustomization: applied(older, onTheWay)},
			status: metav1.ConditionFalse, reason: meta.ReconciliationFailedReason, parts: []string{"as before"},
		},
		"after a failure another commit is applied": {
			with:   said(metav1.ConditionFalse, meta.ReconciliationFailedReason, older),
			seen:   customizer.Seen{Fetched: fetched(newer, good), Kustomization: applied(older, onTheWay)},
			status: metav1.ConditionUnknown, reason: gitopsv1.ReasonProgressing,
		},
		"after a change of the spec it is applied again": {
			with: func(c *gitopsv1.Customizer) {
				said(metav1.ConditionTrue, gitopsv1.ReasonSucceeded, newer)(c)
				c.Generation = 2
			},
			seen:   customizer.Seen{Fetched: fetched(newer, good), Kustomization: applied(newer, onTheWay)},
			status: metav1.ConditionUnknown, reason: gitopsv1.ReasonProgressing,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := profiled("platform", gitopsv1.ProfileCurated)
			if tc.with != nil {
				tc.with(c)
			}
			got := customizer.Judge(c, tc.seen)
			if got.Ready != tc.status || got.Reason != tc.reason {
				t.Errorf("it is %s, %s: %s; want %s, %s", got.Ready, got.Reason, got.Message, tc.status, tc.reason)
			}
			for _, part := range tc.parts {
				if !strings.Contains(got.Message, part) {
					t.Errorf("the message lacks %q: %s", part, got.Message)
				}
			}
		})
	}
}

// TestObjects counts the inventory, also where there is none.
func TestObjects(t *testing.T) {
	k := applied(newer, nil)
	if got := customizer.Objects(nil) + customizer.Objects(k); got != 0 {
		t.Errorf("%d objects of nothing", got)
	}
	k.Status.Inventory = &kustomizev1.ResourceInventory{Entries: []kustomizev1.ResourceRef{{ID: "a"}, {ID: "b"}}}
	if got := customizer.Objects(k); got != 2 {
		t.Errorf("%d objects, want 2", got)
	}
}
