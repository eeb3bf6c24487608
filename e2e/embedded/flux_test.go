package embedded

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"io"
	"strings"
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"golang.org/x/crypto/ssh"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/manifests"
)

const configMapManifest = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: from-git}\ndata: {value: %q}\n"

// repositoryWithConfigMap is a repository whose only file is a ConfigMap.
func repositoryWithConfigMap(t *testing.T) (*gitserver.Server, *gitserver.Repository) {
	t.Helper()
	server, err := gitserver.Start(gitserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	repository, err := server.NewRepository("apps")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := repository.Commit(t.Context(), map[string]string{"config.yaml": fmt.Sprintf(configMapManifest, "first")}); err != nil {
		t.Fatal(err)
	}
	return server, repository
}

// fluxObjects are a source and a Kustomization of it, both called "apps".
func fluxObjects(namespace, url string) (*sourcev1.GitRepository, *kustomizev1.Kustomization) {
	second := metav1.Duration{Duration: 1e9}
	meta := metav1.ObjectMeta{Namespace: namespace, Name: "apps"}
	return &sourcev1.GitRepository{
			ObjectMeta: meta,
			Spec:       sourcev1.GitRepositorySpec{URL: url, Interval: second, Reference: &sourcev1.GitRepositoryRef{Branch: "main"}},
		}, &kustomizev1.Kustomization{
			ObjectMeta: meta,
			Spec: kustomizev1.KustomizationSpec{
				Interval: second, Prune: true, TargetNamespace: namespace, Path: "./",
				SourceRef: kustomizev1.CrossNamespaceSourceReference{Kind: sourcev1.GitRepositoryKind, Name: "apps"},
			},
		}
}

// configMapHolds checks what the ConfigMap from git says.
func configMapHolds(t *testing.T, namespace, want string) func() error {
	return func() error {
		configMap := &corev1.ConfigMap{}
		if err := shared.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "from-git"}, configMap); err != nil {
			return fmt.Errorf("%w; %s", err, fluxConditions(t, namespace))
		}
		if value := configMap.Data["value"]; value != want {
			return fmt.Errorf("value is %q, want %q; %s", value, want, fluxConditions(t, namespace))
		}
		return nil
	}
}

func fluxConditions(t *testing.T, namespace string) string {
	source, kustomization := &sourcev1.GitRepository{}, &kustomizev1.Kustomization{}
	key := client.ObjectKey{Namespace: namespace, Name: "apps"}
	if err := shared.Client.Get(t.Context(), key, source); err != nil {
		return err.Error()
	}
	if err := shared.Client.Get(t.Context(), key, kustomization); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("source: %v, kustomization: %v", source.Status.Conditions, kustomization.Status.Conditions)
}

// apply lays in objects. Sources and Kustomizations go when the test ends, since the
// git server does.
func apply(t *testing.T, objects ...client.Object) {
	t.Helper()
	if err := manifests.Apply(t.Context(), shared.Client, objects...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, object := range objects {
			switch object.(type) {
			case *sourcev1.GitRepository, *kustomizev1.Kustomization:
				// The test's own context has ended by now.
				if err := shared.Client.Delete(context.Background(), object); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

func TestPlatformAppliesPushedCommits(t *testing.T) {
	_, repository := repositoryWithConfigMap(t)
	name := unique("platform-apply")
	source, kustomization := fluxObjects(name, repository.HTTPURL())
	apply(t, namespace(name, nil), source, kustomization)
	await(t, configMapHolds(t, name, "first"))
	if _, err := repository.Commit(t.Context(), map[string]string{"config.yaml": fmt.Sprintf(configMapManifest, "second")}); err != nil {
		t.Fatal(err)
	}
	await(t, configMapHolds(t, name, "second"))
}

func TestTenantsControllerAppliesWhatThePlatformLeaves(t *testing.T) {
	_, repository := repositoryWithConfigMap(t)
	name := unique("tenant-apply")
	key := runTenantController(t, name, soundImage)
	source, kustomization := fluxObjects(name, repository.HTTPURL())
	kustomization.Labels = map[string]string{"sharding.fluxcd.io/key": name}
	kustomization.Spec.DeletionPolicy = kustomizev1.DeletionPolicyOrphan
	apply(t, source, kustomization)
	await(t, configMapHolds(t, name, "first"))
	configMap := &corev1.ConfigMap{}
	if err := shared.Client.Get(t.Context(), client.ObjectKey{Namespace: name, Name: "from-git"}, configMap); err != nil {
		t.Fatal(err)
	}
	writes, err := shared.Writes(configMap.CreationTimestamp.Time, func(w Write) bool {
		return w.Stored() && w.Namespace == name && w.Resource == "configmaps" && w.Name == "from-git"
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, write := range writes {
		if write.User != "system:serviceaccount:"+name+":"+name+"-gitops" {
			t.Errorf("not written by the git account: %s", write)
		}
	}
	if len(writes) == 0 {
		t.Error("the audit log does not have the write")
	}
	if log := shared.Logs(key.Name, 1000); strings.Contains(log, "forbidden") {
		t.Errorf("the controller was refused something:\n%s", log)
	}
}

func TestPrivateRepositoriesOverHTTPSAndSSH(t *testing.T) {
	server, repository := repositoryWithConfigMap(t)
	private, authorized := newDeployKey(t)
	if err := repository.SetAccess(t.Context(), gitserver.Access{Username: "ada", Password: "right", AuthorizedKeys: []string{authorized}}); err != nil {
		t.Fatal(err)
	}
	for protocol, c := range map[string]struct {
		url  string
		data map[string]string
	}{
		"https": {repository.HTTPSURL(), map[string]string{"username": "ada", "password": "right", "ca.crt": server.CertificateAuthority}},
		"ssh":   {repository.SSHURL(), map[string]string{"identity": private, "known_hosts": server.KnownHosts}},
	} {
		t.Run(protocol, func(t *testing.T) {
			name := unique("private-" + protocol)
			source, kustomization := fluxObjects(name, c.url)
			source.Spec.SecretRef = &meta.LocalObjectReference{Name: "credentials.gitops"}
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "credentials.gitops"}, Data: map[string][]byte{}}
			for key, value := range c.data {
				secret.Data[key] = []byte(value)
			}
			apply(t, namespace(name, nil), secret, source, kustomization)
			await(t, configMapHolds(t, name, "first"))
		})
	}
}

// newDeployKey makes a key pair: the private half in PEM, the public one as a line.
func newDeployKey(t *testing.T) (private, authorized string) {
	t.Helper()
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		t.Fatal(err)
	}
	sshPublic, err := ssh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(block)), string(ssh.MarshalAuthorizedKey(sshPublic))
}

func TestFluxWithoutShardSelectorTakesEveryKustomization(t *testing.T) {
	c, err := Start(t.Context(), Options{Flux: true, FluxWithoutShardSelector: true, FluxOnHostNetwork: true, Output: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	})
	deployment := &appsv1.Deployment{}
	if err := c.Client.Get(t.Context(), client.ObjectKey{Namespace: FluxNamespace, Name: "flux"}, deployment); err != nil {
		t.Fatal(err)
	}
	if deployment.Status.ReadyReplicas != 1 {
		t.Errorf("status of the flux Deployment: %+v", deployment.Status)
	}
	for _, container := range deployment.Spec.Template.Spec.Containers {
		selects := strings.Contains(strings.Join(container.Args, " "), "--watch-label-selector=!sharding.fluxcd.io/key")
		if want := container.Name != kustomizeController; selects != want {
			t.Errorf("container %s has the shard selector: %t, want %t", container.Name, selects, want)
		}
	}
	if args := strings.Join(c.process(kustomizeController).args, " "); strings.Contains(args, "sharding.fluxcd.io") {
		t.Errorf("kustomize-controller runs with %s", args)
	}
}
