package escapes_test

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/attempts"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

const (
	// escaping is the tenant whose people write.
	escaping = "tenant-escaping"

	matrixFile = "testdata/matrix.golden"
	hostsFile  = "testdata/hosts.golden"
)

// TestEscapes tries all escapes and compares what closes them with what is written down.
func TestEscapes(t *testing.T) {
	o, err := harness.Start(t.Context(), cluster, harness.Config(), nil)
	if err != nil {
		t.Fatal(err)
	}
	o.AwaitReady(t)
	stampControllers(t)
	useDefaultParameters(t)
	who := tenantWithGitOps(t)
	tries, hosts := admissionTries(), hostTries()
	both := slices.Concat(tries, hosts)
	answers := map[admissionState][]answer{}
	sources := map[admissionState]map[string]answer{}
	generous := grantOtherSources(t, escaping)
	for _, state := range admissionStates {
		switchLayers(t, o, who, escaping, state)
		goodPasses(t, who)
		answers[state] = writeEach(t, who, both)
		sources[state] = writeOtherSources(t, generous, escaping)
	}
	people := walkPeople(t, who, escaping, sources)
	if err := o.Stop(); err != nil {
		t.Fatal(err)
	}

	freeControllers(t)
	s := newScenery(t)
	foreignShard := walkForeignShard(t)
	throughGit := gitTries()
	atControllers := walkControllers(t, s, slices.Concat(controllerTries, throughGit))
	atControllers["another tenant's shard"] = foreignShard

	var rows, hostRows []row
	for i, try := range both {
		at := map[admissionState]answer{}
		for _, state := range admissionStates {
			at[state] = answers[state][i]
		}
		var controller atController
		if try.good.GetKind() == "Kustomization" {
			controller = atControllers[try.attempt.Name]
		}
		r := admissionRow(t, try, at, controller)
		if i < len(tries) {
			rows = append(rows, r)
		} else {
			hostRows = append(hostRows, r)
		}
	}
	for _, try := range controllerTries {
		if try.ofRepository {
			rows = append(rows, controllerRow(t, "what is in a repository", try.name, atControllers[try.name]))
		}
	}
	for _, try := range throughGit {
		rows = append(rows, controllerRow(t, "what a repository would have written", try.name, atControllers[try.name]))
	}
	rows = append(rows, people...)
	rows = append(rows, redirectRow(t, s))
	compare(t, rows, matrixFile)
	compare(t, hostRows, hostsFile)
}

// goodPasses sees that what is all right passes in every way, so that the escapes are
// refused for what they are.
func goodPasses(t *testing.T, who []client.Client) {
	t.Helper()
	unchanged := attempts.Attempt{Name: "nothing wrong", Change: func(*unstructured.Unstructured) {}}
	for _, good := range []*unstructured.Unstructured{
		attempts.Kustomization(escaping), attempts.GitRepository(escaping), attempts.OCIRepository(escaping), attempts.TenantGitOps(escaping),
	} {
		if got := weakest(t, who, admissionTry{good: good, attempt: unchanged}); got != passed {
			t.Errorf("a good %s is refused: %s", good.GetKind(), got)
		}
	}
}

// useDefaultParameters allows no more than an admin who has set nothing.
func useDefaultParameters(t *testing.T) {
	t.Helper()
	parameters := &gitopsv1.GitOpsParameters{}
	if err := cluster.Client.Get(t.Context(), client.ObjectKey{Name: gitopsv1.GitOpsParametersName}, parameters); err != nil {
		t.Fatal(err)
	}
	parameters.Spec.AllowedHosts, parameters.Spec.AllowSubmodules = nil, false
	if err := cluster.Client.Update(t.Context(), parameters); err != nil {
		t.Fatal(err)
	}
}

// admissionTries are what the people write, hosts aside.
func admissionTries() []admissionTry {
	var tries []admissionTry
	for _, attempt := range attempts.Kustomizations(escaping) {
		tries = append(tries, admissionTry{good: attempts.Kustomization(escaping), attempt: attempt})
	}
	for _, attempt := range attempts.GitRepositories() {
		tries = append(tries, admissionTry{good: attempts.GitRepository(escaping), attempt: attempt})
	}
	for _, attempt := range attempts.OCIRepositories() {
		tries = append(tries, admissionTry{good: attempts.OCIRepository(escaping), attempt: attempt})
	}
	for _, attempt := range attempts.AllTenantGitOps(escaping) {
		tries = append(tries, admissionTry{good: attempts.TenantGitOps(escaping), attempt: attempt})
	}
	return append(tries, otherTenantsTries()...)
}

// hostTries are all spellings of hosts inside, and the names that nobody can see through.
func hostTries() []admissionTry {
	var tries []admissionTry
	for _, attempt := range slices.Concat(attempts.Hosts("spec.url", "https"), attempts.PublicHosts("spec.url", "https")) {
		tries = append(tries, admissionTry{good: attempts.GitRepository(escaping), attempt: attempt})
	}
	for _, attempt := range slices.Concat(attempts.Hosts("spec.url", "oci"), attempts.PublicHosts("spec.url", "oci")) {
		tries = append(tries, admissionTry{good: attempts.OCIRepository(escaping), attempt: attempt})
	}
	for _, attempt := range slices.Concat(attempts.TenantGitOpsHosts(), attempts.PublicTenantGitOpsHosts()) {
		tries = append(tries, admissionTry{good: attempts.TenantGitOps(escaping), attempt: attempt})
	}
	return tries
}

// gitTries are the objects that a repository would have written.
func gitTries() []controllerTry {
	var tries []controllerTry
	for _, object := range writtenThroughGit {
		tries = append(tries, object.try())
	}
	return tries
}
