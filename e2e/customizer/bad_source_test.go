package customizer_test

import (
	"testing"

	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// TestWhatIsWrongIsSaid: each of the usual mistakes is one condition with the mend, and nothing
// is applied.
func TestWhatIsWrongIsSaid(t *testing.T) {
	t.Parallel()
	encrypted := "apiVersion: v1\nkind: Secret\nmetadata: {namespace: acme-wrong, name: a}\nstringData: {a: 'ENC[AES256_GCM,data:AA==,iv:AA==,tag:AA==,type:str]'}\n" +
		"sops: {age: [{recipient: age1x, enc: x}], lastmodified: '2026-01-01T00:00:00Z', mac: 'ENC[AES256_GCM,data:AA==,iv:AA==,tag:AA==,type:str]', version: 3.9.0}\n"
	for name, tc := range map[string]struct {
		files  map[string]string
		access *gitserver.Access
		secret map[string]string
		wrong  func(*gitopsv1.CustomizerSpec)
		reason string
		parts  []string
	}{
		"wrong-path": {
			wrong:  func(spec *gitopsv1.CustomizerSpec) { spec.Kustomization.Path = "./production" },
			reason: "ArtifactFailed", parts: []string{"production", "spec.kustomization.path is a folder of the repository"},
		},
		"wrong-private": {
			access: &gitserver.Access{Username: "acme", Password: "secret"},
			reason: "GitOperationFailed", parts: []string{"cannot fetch the repository", "authentication required", "Secret cozy-system/git-ca.gitops must hold username and password"},
		},
		"wrong-no-secret": {
			wrong: func(spec *gitopsv1.CustomizerSpec) {
				spec.Source.Git.SecretRef = &meta.LocalObjectReference{Name: "missing.gitops"}
			},
			reason: "AuthenticationFailed", parts: []string{"missing.gitops", "not found"},
		},
		"wrong-no-key": {
			secret: map[string]string{"user": "acme"},
			wrong: func(spec *gitopsv1.CustomizerSpec) {
				spec.Source.Git.URL = "ssh://git@127.0.0.1:1/acme"
				spec.Source.Git.SecretRef = &meta.LocalObjectReference{Name: "wrong-no-key.gitops"}
			},
			reason: "AuthenticationFailed", parts: []string{"wrong-no-key.gitops must hold identity and known_hosts"},
		},
		"wrong-branch": {
			wrong:  func(spec *gitopsv1.CustomizerSpec) { spec.Source.Git.Ref.Branch = "nowhere" },
			reason: "GitOperationFailed", parts: []string{"nowhere"},
		},
		"wrong-decryption": {
			files: map[string]string{"secret.yaml": encrypted},
			wrong: func(spec *gitopsv1.CustomizerSpec) {
				spec.Kustomization.Decryption = &gitopsv1.Decryption{Provider: "sops", SecretRef: &meta.LocalObjectReference{Name: "no-age.gitops"}}
			},
			reason: "BuildFailed", parts: []string{"no-age.gitops"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"a.yaml": packageValues("acme." + name)}
			for file, content := range tc.files {
				files[file] = content
			}
			c, repository := newCustomizer(t, name, files)
			if tc.access != nil {
				if err := repository.SetAccess(t.Context(), *tc.access); err != nil {
					t.Fatal(err)
				}
			}
			if tc.secret != nil {
				harness.WriteSecret(t, cluster.Client, system, name+".gitops", tc.secret)
			}
			if tc.wrong != nil {
				tc.wrong(&c.Spec)
			}
			create(t, c)
			awaitState(t, name, metav1.ConditionFalse, tc.reason, tc.parts...)
			if err := cluster.Client.Get(t.Context(), client.ObjectKey{Name: "acme." + name}, &cozyv1.PackageValues{}); client.IgnoreNotFound(err) != nil || err == nil {
				t.Errorf("something was applied: %v", err)
			}
		})
	}
}
