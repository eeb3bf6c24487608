package fields_test

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// stamped are the Flux objects of one source; one of the two repositories is nil.
type stamped struct {
	git           *sourcev1.GitRepository
	oci           *sourcev1.OCIRepository
	kustomization *kustomizev1.Kustomization
}

// reaches says, for each field of a source, where its value must arrive. Fields that
// stand for more than a copy return what they must have become beside it.
var reaches = map[string]func(stamped) any{
	"suspend": func(s stamped) any {
		if s.git != nil {
			return s.git.Spec.Suspend && s.kustomization.Spec.Suspend
		}
		return s.oci.Spec.Suspend && s.kustomization.Spec.Suspend
	},
	"path":            func(s stamped) any { return s.kustomization.Spec.Path },
	"targetNamespace": func(s stamped) any { return s.kustomization.Spec.TargetNamespace },
	"interval":        func(s stamped) any { return s.kustomization.Spec.Interval },
	"retryInterval":   func(s stamped) any { return s.kustomization.Spec.RetryInterval },
	"timeout":         func(s stamped) any { return s.kustomization.Spec.Timeout },
	"prune":           func(s stamped) any { return &s.kustomization.Spec.Prune },
	"deletionPolicy":  func(s stamped) any { return s.kustomization.Spec.DeletionPolicy },
	"wait":            func(s stamped) any { return s.kustomization.Spec.Wait },
	"healthChecks":    func(s stamped) any { return s.kustomization.Spec.HealthChecks },
	// Those of the operator come after, and none for what the source has one for.
	"healthCheckExprs":         func(s stamped) any { return s.kustomization.Spec.HealthCheckExprs[:1] },
	"patches":                  func(s stamped) any { return s.kustomization.Spec.Patches },
	"components":               func(s stamped) any { return s.kustomization.Spec.Components },
	"commonMetadata":           func(s stamped) any { return s.kustomization.Spec.CommonMetadata },
	"postBuild.substitute":     func(s stamped) any { return s.kustomization.Spec.PostBuild.Substitute },
	"postBuild.substituteFrom": func(s stamped) any { return s.kustomization.Spec.PostBuild.SubstituteFrom },
	"decryption.provider":      func(s stamped) any { return s.kustomization.Spec.Decryption.Provider },
	"decryption.secretRef":     func(s stamped) any { return s.kustomization.Spec.Decryption.SecretRef },
	"dependsOn": func(s stamped) any {
		var sources []string
		for _, dependency := range s.kustomization.Spec.DependsOn {
			sources = append(sources, strings.TrimPrefix(dependency.Name, fluxName("")))
		}
		return sources
	},

	"git.url":               func(s stamped) any { return s.git.Spec.URL },
	"git.ref":               func(s stamped) any { return s.git.Spec.Reference },
	"git.secretRef":         func(s stamped) any { return s.git.Spec.SecretRef },
	"git.interval":          func(s stamped) any { return s.git.Spec.Interval },
	"git.timeout":           func(s stamped) any { return s.git.Spec.Timeout },
	"git.verify":            func(s stamped) any { return s.git.Spec.Verification },
	"git.ignore":            func(s stamped) any { return s.git.Spec.Ignore },
	"git.recurseSubmodules": func(s stamped) any { return s.git.Spec.RecurseSubmodules },
	"git.sparseCheckout":    func(s stamped) any { return s.git.Spec.SparseCheckout },

	"oci.url":           func(s stamped) any { return s.oci.Spec.URL },
	"oci.ref":           func(s stamped) any { return s.oci.Spec.Reference },
	"oci.layerSelector": func(s stamped) any { return s.oci.Spec.LayerSelector },
	"oci.secretRef":     func(s stamped) any { return s.oci.Spec.SecretRef },
	"oci.certSecretRef": func(s stamped) any { return s.oci.Spec.CertSecretRef },
	"oci.interval":      func(s stamped) any { return s.oci.Spec.Interval },
	"oci.timeout":       func(s stamped) any { return s.oci.Spec.Timeout },
	"oci.ignore":        func(s stamped) any { return s.oci.Spec.Ignore },
}

// triedElsewhere are fields without a counterpart in Flux, with the test that shows
// their effect.
var triedElsewhere = map[string]string{
	"name":              "TestEveryFieldReachesFlux finds the Flux objects by it",
	"confirmPrune":      "e2e/pruneguard",
	"git.deployKey":     "TestDeployKey",
	"git.knownHosts":    "TestDeployKey",
	"decryption.ageKey": "TestDecryptionWithGeneratedKey",
}

// TestEveryFieldReachesFlux compares each field of two full sources with what the Flux
// objects say. A field that is added to the API and not to this test fails it.
func TestEveryFieldReachesFlux(t *testing.T) {
	namespace := newTenant(t, "tenant-stamped")
	harness.NewTenant(t, cluster.Client, "tenant-stamped-below")
	sources := []gitopsv1.Source{fullGitSource(), fullOCISource()}
	write(t, namespace, sources...)

	tried := map[string]bool{}
	for _, source := range sources {
		objects := awaitStamped(t, namespace, source)
		compare(t, source.Name, "", reflect.ValueOf(source), objects, tried)
	}
	for i := range reflect.TypeFor[gitopsv1.TenantGitOpsSpec]().NumField() {
		// Sources are walked above; TestSuspendedTenant tries the other one.
		if name := reflect.TypeFor[gitopsv1.TenantGitOpsSpec]().Field(i).Name; name != "Sources" && name != "Suspend" {
			t.Errorf("no test knows spec field %s", name)
		}
	}
	for path := range reaches {
		if !tried[path] {
			t.Errorf("no source of this test sets %s, or the API does not have it", path)
		}
	}
}

// compare walks the API's own types; Flux's are compared as a whole.
func compare(t *testing.T, source, prefix string, value reflect.Value, objects stamped, tried map[string]bool) {
	t.Helper()
	for i := range value.NumField() {
		name, _, _ := strings.Cut(value.Type().Field(i).Tag.Get("json"), ",")
		path, field := prefix+name, value.Field(i)
		if own := field.Type(); own.Kind() == reflect.Pointer && own.Elem().PkgPath() == value.Type().PkgPath() {
			if !field.IsNil() {
				compare(t, source, path+".", field.Elem(), objects, tried)
			}
			continue
		}
		if triedElsewhere[path] != "" {
			continue
		}
		arrived, known := reaches[path]
		if !known {
			t.Errorf("nothing says where field %s must arrive", path)
			continue
		}
		if field.IsZero() {
			continue
		}
		tried[path] = true
		if want, got := field.Interface(), arrived(objects); !apiequality.Semantic.DeepEqual(want, got) {
			t.Errorf("source %s: %s is %v, and arrived as %v", source, path, want, got)
		}
	}
}

// awaitStamped reads the Flux objects of a source when they are there.
func awaitStamped(t *testing.T, namespace string, source gitopsv1.Source) stamped {
	t.Helper()
	var objects stamped
	harness.Await(t, "the Flux objects of source "+source.Name, func(ctx context.Context) (bool, string) {
		key := client.ObjectKey{Namespace: namespace, Name: fluxName(source.Name)}
		var repository client.Object
		if source.Git != nil {
			objects.git = &sourcev1.GitRepository{}
			repository = objects.git
		} else {
			objects.oci = &sourcev1.OCIRepository{}
			repository = objects.oci
		}
		if err := cluster.Client.Get(ctx, key, repository); err != nil {
			return false, err.Error()
		}
		objects.kustomization = &kustomizev1.Kustomization{}
		err := cluster.Client.Get(ctx, key, objects.kustomization)
		return err == nil, fmt.Sprint(err)
	})
	return objects
}

func duration(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }

func pointer[T any](value T) *T { return &value }

// fullGitSource sets all that a git source can have. It is suspended: nothing is to be
// fetched from hosts that do not exist.
func fullGitSource() gitopsv1.Source {
	return gitopsv1.Source{
		Name: "full-git",
		Git: &gitopsv1.GitSource{
			URL:               "https://git.example.org/acme/full",
			Ref:               &sourcev1.GitRepositoryRef{Branch: "production", Commit: strings.Repeat("a1", 20)},
			SecretRef:         secretRef("login.gitops"),
			Interval:          metav1.Duration{Duration: 31 * time.Second},
			Timeout:           duration(32 * time.Second),
			Verify:            &sourcev1.GitRepositoryVerification{Mode: sourcev1.ModeGitHEAD, SecretRef: *secretRef("authors.gitops")},
			Ignore:            pointer("/drafts/"),
			RecurseSubmodules: true,
			SparseCheckout:    []string{"production"},
		},
		Path:            "./production",
		TargetNamespace: "tenant-stamped-below",
		Interval:        metav1.Duration{Duration: 33 * time.Second},
		RetryInterval:   duration(34 * time.Second),
		Timeout:         duration(35 * time.Second),
		Prune:           pointer(false),
		DeletionPolicy:  kustomizev1.DeletionPolicyWaitForTermination,
		HealthChecks: []meta.NamespacedObjectKindReference{{
			APIVersion: "apps.cozystack.io/v1alpha1", Kind: "Redis", Name: "cache", Namespace: "tenant-stamped",
		}},
		HealthCheckExprs: []kustomize.CustomHealthCheck{{
			APIVersion: "apps.cozystack.io/v1alpha1", Kind: "Redis",
			HealthCheckExpressions: kustomize.HealthCheckExpressions{
				Current: "has(status.done)", Failed: "has(status.failed)", InProgress: "!has(status.done)",
			},
		}},
		DependsOn: []string{"full-oci"},
		PostBuild: &gitopsv1.PostBuild{
			Substitute:     map[string]string{"size": "1Gi"},
			SubstituteFrom: []kustomizev1.SubstituteReference{{Kind: "ConfigMap", Name: "sizes", Optional: true}},
		},
		Decryption:     &gitopsv1.Decryption{Provider: "sops", SecretRef: secretRef("keys.gitops")},
		Patches:        []kustomize.Patch{{Patch: "[]", Target: &kustomize.Selector{Kind: "Redis"}}},
		Components:     []string{"../components/small"},
		CommonMetadata: &kustomizev1.CommonMetadata{Labels: map[string]string{"team": "a"}, Annotations: map[string]string{"note": "b"}},
		Suspend:        true,
	}
}

// fullOCISource sets all that only an OCI source can have, and what does not go with the
// other one's fields.
func fullOCISource() gitopsv1.Source {
	return gitopsv1.Source{
		Name: "full-oci",
		OCI: &gitopsv1.OCISource{
			URL:           "oci://registry.example.org/acme/full",
			Ref:           &sourcev1.OCIRepositoryRef{SemVer: "1.x", SemverFilter: ".*-stable"},
			LayerSelector: &sourcev1.OCILayerSelector{MediaType: "application/vnd.acme.layer.tar+gzip", Operation: "copy"},
			SecretRef:     secretRef("login.gitops"),
			CertSecretRef: secretRef("authority.gitops"),
			Interval:      metav1.Duration{Duration: 36 * time.Second},
			Timeout:       duration(37 * time.Second),
			Ignore:        pointer("/drafts/"),
		},
		Wait:    true,
		Suspend: true,
	}
}
