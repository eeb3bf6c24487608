package secrettheft_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
)

// noTheft are fields that look as if they named a Secret, and why nothing is stolen
// through them here.
var noTheft = map[string]string{
	"GitRepository.include[].repository":          "it names another GitRepository",
	"GitRepository.serviceAccountName":            "it logs in to a cloud as the account: no Secret is read, and provider must be generic",
	"Kustomization.serviceAccountName":            "the controller acts as the account, and reads none of its Secrets: e2e/escapes",
	"Kustomization.decryption.serviceAccountName": "a token of the account is made, and no Secret read: e2e/escapes",
	"Kustomization.kubeConfig.configMapRef":       "the ConfigMap names an account of which a token is made: e2e/escapes",
	"TenantGitOps.sources[].git.verify.secretRef": "stolen from as GitRepository.verify.secretRef",
	"TenantGitOps.sources[].decryption.ageKey":    "it asks for a key, and names none",
	"TenantGitOps.sources[].git.deployKey":        "it asks for a key, and names none",
}

// referenceTypes are Go types whose values name an object.
var referenceTypes = []reflect.Type{
	reflect.TypeFor[meta.LocalObjectReference](), reflect.TypeFor[meta.SecretKeyReference](),
	reflect.TypeFor[kustomizev1.SubstituteReference](),
}

// fieldsThatNameSecrets are the paths below a spec of what may name a Secret, or
// something that leads to one: by type, or by name.
func fieldsThatNameSecrets(path string, of reflect.Type) []string {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
		if of.Kind() == reflect.Slice {
			path += "[]"
		}
		of = of.Elem()
	}
	if slices.Contains(referenceTypes, of) || namesSecret(path) {
		return []string{path}
	}
	if of.Kind() != reflect.Struct || !strings.Contains(of.PkgPath(), "fluxcd") && !strings.Contains(of.PkgPath(), "cozystack") {
		return nil
	}
	var found []string
	for field := range of.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		below := path + "." + name
		if name == "" {
			below = path
		}
		found = append(found, fieldsThatNameSecrets(below, field.Type)...)
	}
	return found
}

// namesSecret goes by the last name of a path.
func namesSecret(path string) bool {
	name := strings.ToLower(path[strings.LastIndex(path, ".")+1:])
	return slices.ContainsFunc([]string{"secret", "serviceaccount", "configmap", "credential", "token", "key"}, func(word string) bool {
		return strings.Contains(name, word)
	})
}

// TestEveryFieldThatNamesASecretIsTried finds the fields in the types of this Flux.
func TestEveryFieldThatNamesASecretIsTried(t *testing.T) {
	found := slices.Concat(
		fieldsThatNameSecrets("GitRepository", reflect.TypeFor[sourcev1.GitRepositorySpec]()),
		fieldsThatNameSecrets("OCIRepository", reflect.TypeFor[sourcev1.OCIRepositorySpec]()),
		fieldsThatNameSecrets("Kustomization", reflect.TypeFor[kustomizev1.KustomizationSpec]()),
		fieldsThatNameSecrets("TenantGitOps", reflect.TypeFor[gitopsv1.TenantGitOpsSpec]()),
	)
	tried := map[string]bool{}
	for _, theft := range thefts {
		tried[theft.field] = true
	}
	for _, field := range found {
		if !tried[field] && noTheft[field] == "" {
			t.Errorf("%s may name a Secret, and nothing tries to steal through it: add it to thefts, or to noTheft with the reason", field)
		}
	}
	for field := range tried {
		if !slices.Contains(found, field) {
			t.Errorf("a theft through %s is tried, and there is no such field", field)
		}
	}
	for field := range noTheft {
		if !slices.Contains(found, field) {
			t.Errorf("%s is explained, and there is no such field", field)
		}
	}
}
