package admission_test

import (
	"maps"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/cozystack/gitops-operator/internal/admission"
)

const (
	ownerName      = "kustomize.toolkit.fluxcd.io/name"
	ownerNamespace = "kustomize.toolkit.fluxcd.io/namespace"
	gitAccount     = "system:serviceaccount:" + tenant + ":" + account
	entry          = tenant + "_db_apps.cozystack.io_Postgres"
)

var created = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// database is as git applied it.
func database() *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps.cozystack.io/v1alpha1", "kind": "Postgres",
		"metadata": map[string]any{"name": "db", "namespace": tenant},
		"spec":     map[string]any{"size": "1Gi"},
	}}
	object.SetLabels(map[string]string{ownerName: "gitops-shop", ownerNamespace: tenant})
	object.SetCreationTimestamp(metav1.NewTime(created))
	return object
}

func grown() *unstructured.Unstructured {
	return with(database(), []string{"spec", "size"}, "9Gi")
}

// owner has the entries in its inventory.
func owner(entries ...string) *kustomizev1.Kustomization {
	inventory := &kustomizev1.ResourceInventory{}
	for _, id := range entries {
		inventory.Entries = append(inventory.Entries, kustomizev1.ResourceRef{ID: id, Version: "v1alpha1"})
	}
	return &kustomizev1.Kustomization{
		ObjectMeta: metav1.ObjectMeta{Namespace: tenant, Name: "gitops-shop", Labels: map[string]string{"gitops.cozystack.io/source": "shop"}},
		Spec:       kustomizev1.KustomizationSpec{Path: "./apps"},
		Status:     kustomizev1.KustomizationStatus{Inventory: inventory},
	}
}

func changedOwner(o *kustomizev1.Kustomization, change func(*kustomizev1.Kustomization)) *kustomizev1.Kustomization {
	change(o)
	return o
}

// progressing told of its progress at a time.
func progressing(at time.Time, reason string) func(*kustomizev1.Kustomization) {
	return func(o *kustomizev1.Kustomization) {
		o.Status.Conditions = []metav1.Condition{{
			Type: meta.ReconcilingCondition, Status: metav1.ConditionTrue, Reason: reason, LastTransitionTime: metav1.NewTime(at),
		}}
	}
}

func TestDecideEdit(t *testing.T) {
	repository := admission.Repository{URL: "https://git.example.org/acme/shop", Ref: "branch main"}
	const (
		change = "postgres db is managed by git: change it in ./apps of https://git.example.org/acme/shop (branch main); to edit it by hand, suspend the source shop of the TenantGitOps gitops in tenant-acme first"
		remove = "postgres db is managed by git: remove it from ./apps of https://git.example.org/acme/shop (branch main)"
	)
	managed := admission.EditFacts{Owner: owner(entry), OwnerFromAbove: true, Repository: repository}
	ownedBy := func(o *kustomizev1.Kustomization) admission.EditFacts {
		return admission.EditFacts{Owner: o, OwnerFromAbove: true, Repository: repository}
	}
	for name, test := range map[string]struct {
		user  string
		new   *unstructured.Unstructured
		facts admission.EditFacts
		// refused is a part of the sentence; empty for one that passes.
		refused string
	}{
		"changed":              {new: grown(), facts: managed, refused: change},
		"deleted":              {facts: managed, refused: remove},
		"labels taken away":    {new: with(database(), []string{"metadata", "labels"}, nil), facts: managed, refused: change},
		"namespace is going":   {facts: admission.EditFacts{Owner: owner(entry), OwnerFromAbove: true, Terminating: true}},
		"owner is gone":        {new: grown()},
		"owner from elsewhere": {new: grown(), facts: admission.EditFacts{Owner: owner(entry)}},
		"owner is going": {new: grown(), facts: ownedBy(changedOwner(owner(entry), func(o *kustomizev1.Kustomization) {
			o.DeletionTimestamp = &metav1.Time{Time: created}
		}))},
		"owner is suspended": {new: grown(), facts: ownedBy(changedOwner(owner(entry), func(o *kustomizev1.Kustomization) {
			o.Spec.Suspend = true
		}))},
		"owner has applied nothing": {new: grown(), facts: ownedBy(changedOwner(owner(), func(o *kustomizev1.Kustomization) {
			o.Status.Inventory = nil
		}))},
		"owner has another of that name": {new: grown(), facts: ownedBy(owner(tenant + "_db_apps.cozystack.io_Redis"))},
		"owner has it elsewhere":         {new: grown(), facts: ownedBy(owner("tenant-other_db_apps.cozystack.io_Postgres"))},
		"just created by its owner":      {new: grown(), facts: ownedBy(changedOwner(owner(), progressing(created, meta.ProgressingReason))), refused: change},
		"there before its owner's pass":  {new: grown(), facts: ownedBy(changedOwner(owner(), progressing(created.Add(time.Second), meta.ProgressingReason)))},
		"created while its owner failed": {new: grown(), facts: ownedBy(changedOwner(owner(), progressing(created, meta.ProgressingWithRetryReason)))},
		"an account that an admin gave the owner": {user: "system:serviceaccount:" + tenant + ":deployer", new: grown(), facts: ownedBy(changedOwner(owner(entry), func(o *kustomizev1.Kustomization) {
			o.Spec.ServiceAccountName = "deployer"
		}))},
		"written by hand": {new: grown(), facts: ownedBy(changedOwner(owner(entry), func(o *kustomizev1.Kustomization) {
			o.Labels, o.Name = nil, "raw"
		})), refused: "suspend the Kustomization raw in tenant-acme first"},
	} {
		t.Run(name, func(t *testing.T) {
			edit := admission.Edit{Namespace: tenant, User: test.user, Old: database(), Object: test.new}
			if edit.Exempt([]string{"system:masters"}) {
				t.Fatal("it is exempt, whoever owns the application")
			}
			verdict := admission.DecideEdit(edit, test.facts)
			if (verdict.Outcome == admission.Refused) != (test.refused != "") || !strings.Contains(verdict.Message, test.refused) {
				t.Errorf("got %s: %s", verdict.Outcome, verdict.Message)
			}
		})
	}
}

func TestExemptEdits(t *testing.T) {
	metadata := func(field string, value any) *unstructured.Unstructured {
		return with(database(), []string{"metadata", field}, value)
	}
	relabelled := func(label, value string) *unstructured.Unstructured {
		object := database()
		labels := maps.Clone(object.GetLabels())
		labels[label] = value
		object.SetLabels(labels)
		return object
	}
	unlabelled := database()
	unlabelled.SetLabels(map[string]string{ownerName: "gitops-shop"})
	for name, test := range map[string]struct {
		user     string
		groups   []string
		old, new *unstructured.Unstructured
		exempt   bool
	}{
		"a person":                          {user: "ann", new: grown()},
		"a person deletes":                  {user: "ann"},
		"an admin":                          {user: "ann", groups: []string{"staff", "acme:admins"}, new: grown(), exempt: true},
		"git":                               {user: gitAccount, new: grown(), exempt: true},
		"another tenant's git":              {user: "system:serviceaccount:tenant-other:tenant-other-gitops", new: grown()},
		"another account of the tenant":     {user: "system:serviceaccount:" + tenant + ":" + tenant, new: grown()},
		"another account called so":         {user: "system:serviceaccount:tenant-other:" + account, new: grown()},
		"the end of namespaces":             {user: "system:serviceaccount:kube-system:namespace-controller", exempt: true},
		"the platform's Flux":               {user: "system:serviceaccount:cozy-fluxcd:flux", new: grown(), exempt: true},
		"the platform's cleaning":           {user: "system:serviceaccount:cozy-system:tenant-acme-cleanup", exempt: true},
		"a namespace called alike":          {user: "system:serviceaccount:cozy-systematic:flux"},
		"the operator":                      {user: "system:serviceaccount:cozy-gitops:gitops-operator", new: grown()},
		"not from git":                      {user: "ann", old: unlabelled, exempt: true},
		"git's label is put on":             {user: "ann", old: unlabelled, new: grown(), exempt: true},
		"a finalizer":                       {user: "ann", new: metadata("finalizers", []any{"example.org/held"}), exempt: true},
		"an owner reference":                {user: "ann", new: metadata("ownerReferences", []any{map[string]any{"name": "x"}}), exempt: true},
		"the status":                        {user: "ann", new: with(database(), []string{"status", "phase"}, "Up"), exempt: true},
		"nothing":                           {user: "ann", new: database(), exempt: true},
		"a label of its own":                {user: "ann", new: relabelled("note", "x")},
		"git's label is changed":            {user: "ann", new: relabelled(ownerName, "other")},
		"an annotation that keeps git away": {user: "ann", new: metadata("annotations", map[string]any{"kustomize.toolkit.fluxcd.io/reconcile": "disabled"})},
		"a field beside the spec":           {user: "ann", new: with(database(), []string{"appVersion"}, "2.0")},
	} {
		t.Run(name, func(t *testing.T) {
			edit := admission.Edit{Namespace: tenant, User: test.user, Groups: test.groups, Old: database(), Object: test.new}
			if test.old != nil {
				edit.Old = test.old
			}
			if exempt := edit.Exempt([]string{"acme:admins"}); exempt != test.exempt {
				t.Errorf("exempt: %t, want %t", exempt, test.exempt)
			}
		})
	}
}

func TestRepositoriesAreNamedWithoutCredentials(t *testing.T) {
	git := func(url string, ref *sourcev1.GitRepositoryRef) *sourcev1.GitRepository {
		return &sourcev1.GitRepository{ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Spec: sourcev1.GitRepositorySpec{URL: url, Reference: ref}}
	}
	oci := func(url string, ref *sourcev1.OCIRepositoryRef) *sourcev1.OCIRepository {
		return &sourcev1.OCIRepository{ObjectMeta: metav1.ObjectMeta{Name: "shop"}, Spec: sourcev1.OCIRepositorySpec{URL: url, Reference: ref}}
	}
	for _, test := range []struct {
		repository admission.Repository
		want       string
	}{
		{admission.GitRepository(git("https://git.example.org/acme/shop", nil)), "https://git.example.org/acme/shop (branch master)"},
		{admission.GitRepository(git("https://ann:word@git.example.org/shop?token=word#word", &sourcev1.GitRepositoryRef{Branch: "main"})), "https://git.example.org/shop (branch main)"},
		{admission.GitRepository(git("ssh://git@git.example.org:2222/shop", &sourcev1.GitRepositoryRef{Branch: "main", Tag: "v1"})), "ssh://git.example.org:2222/shop (tag v1)"},
		{admission.GitRepository(git("https://ann:wo rd@git.example.org/shop", &sourcev1.GitRepositoryRef{SemVer: ">1", Tag: "v1"})), "the GitRepository shop (tags >1)"},
		{admission.GitRepository(git("https://git.example.org/shop", &sourcev1.GitRepositoryRef{Name: "refs/heads/x", SemVer: ">1"})), "https://git.example.org/shop (refs/heads/x)"},
		{admission.GitRepository(git("https://git.example.org/shop", &sourcev1.GitRepositoryRef{Commit: "abc", Name: "refs/heads/x"})), "https://git.example.org/shop (commit abc)"},
		{admission.OCIRepository(oci("oci://registry.example.org/shop", nil)), "oci://registry.example.org/shop (tag latest)"},
		{admission.OCIRepository(oci("oci://registry.example.org/shop", &sourcev1.OCIRepositoryRef{Tag: "1", SemVer: "1.x"})), "oci://registry.example.org/shop (tags 1.x)"},
		{admission.OCIRepository(oci("oci://registry.example.org/shop", &sourcev1.OCIRepositoryRef{Tag: "1", Digest: "sha256:0"})), "oci://registry.example.org/shop (digest sha256:0)"},
		{admission.NamedSource("Bucket", "shop"), "the Bucket shop"},
	} {
		edit := admission.Edit{Namespace: tenant, User: "ann", Old: database(), Object: grown()}
		for path, folder := range map[string]string{"": "./", "apps": "./apps", "./apps/": "./apps", "/apps": "./apps"} {
			facts := admission.EditFacts{Owner: owner(entry), OwnerFromAbove: true, Repository: test.repository}
			facts.Owner.Spec.Path = path
			verdict := admission.DecideEdit(edit, facts)
			if want := "change it in " + folder + " of " + test.want + ";"; !strings.Contains(verdict.Message, want) {
				t.Errorf("path %q: %q is not in: %s", path, want, verdict.Message)
			}
		}
	}
}

// TestDecideClaim goes through who may take over what another Kustomization applied.
func TestDecideClaim(t *testing.T) {
	const git = "system:serviceaccount:" + tenant + ":" + tenant + "-gitops"
	claimed := database()
	labels := claimed.GetLabels()
	labels["kustomize.toolkit.fluxcd.io/name"] = "gitops-other"
	claimed.SetLabels(labels)
	condition := func(reason, message string) func(*kustomizev1.Kustomization) {
		return func(o *kustomizev1.Kustomization) {
			status := metav1.ConditionFalse
			if reason == meta.ReconciliationSucceededReason {
				status = metav1.ConditionTrue
			}
			o.Status.Conditions = []metav1.Condition{{Type: meta.ReadyCondition, Status: status, Reason: reason, Message: message}}
		}
	}
	applied := condition(meta.ReconciliationSucceededReason, "Applied revision: r")
	has := admission.EditFacts{Owner: changedOwner(owner(entry), applied), OwnerFromAbove: true}
	for name, test := range map[string]struct {
		facts   admission.EditFacts
		refused bool
	}{
		"another has it":             {facts: has, refused: true},
		"the other is gone":          {},
		"the other is from beside":   {facts: admission.EditFacts{Owner: has.Owner}},
		"the namespace is going":     {facts: admission.EditFacts{Owner: has.Owner, OwnerFromAbove: true, Terminating: true}},
		"the other has dropped it":   {facts: admission.EditFacts{Owner: changedOwner(owner(), applied), OwnerFromAbove: true}},
		"the other cannot say":       {facts: admission.EditFacts{Owner: changedOwner(owner(), condition(meta.BuildFailedReason, "no")), OwnerFromAbove: true}, refused: true},
		"the other has said nothing": {facts: admission.EditFacts{Owner: owner(), OwnerFromAbove: true}, refused: true},
		"the other wants to prune it": {facts: admission.EditFacts{OwnerFromAbove: true, Owner: changedOwner(owner(entry),
			condition(meta.PruneFailedReason, "delete failed, errors: Postgres/"+tenant+"/db delete failed: held;"))}},
		"the other is suspended": {facts: admission.EditFacts{OwnerFromAbove: true, Owner: changedOwner(owner(entry), func(o *kustomizev1.Kustomization) { o.Spec.Suspend = true })}},
	} {
		t.Run(name, func(t *testing.T) {
			edit := admission.Edit{Namespace: tenant, User: git, Old: database(), Object: claimed}
			if !edit.Claims() || edit.Exempt(nil) {
				t.Fatal("it is no claim, or it is exempt")
			}
			verdict := admission.DecideEdit(edit, test.facts)
			if (verdict.Outcome == admission.Refused) != test.refused {
				t.Errorf("got %s: %s", verdict.Outcome, verdict.Message)
			}
		})
	}
	for name, edit := range map[string]admission.Edit{
		"git's own apply":        {Namespace: tenant, User: git, Old: database(), Object: grown()},
		"a person":               {Namespace: tenant, User: "ann", Old: database(), Object: claimed},
		"an object nobody owned": {Namespace: tenant, User: git, Old: with(database(), []string{"metadata", "labels"}, nil), Object: claimed},
	} {
		if edit.Claims() {
			t.Errorf("%s counts as a claim", name)
		}
	}
}
