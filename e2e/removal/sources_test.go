package removal_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/gitserver"
	"github.com/cozystack/gitops-operator/e2e/harness"
)

// twoSources are those of a tenant, each with a repository of its own.
type twoSources struct {
	tenant       string
	repositories [2]*gitserver.Repository
}

var sourceNames = [2]string{"first", "second"}

func newTwoSources(t *testing.T, tenant string) *twoSources {
	t.Helper()
	harness.NewTenant(t, cluster.Client, tenant)
	sources := &twoSources{tenant: tenant}
	var listed []gitopsv1.Source
	for i, name := range sourceNames {
		// Each has something that stays, so that neither is ever empty.
		repository, _ := harness.NewRepository(t, git, tenant+"-"+name, map[string]string{"apps/bucket.yaml": fixtures.Bucket(name)})
		sources.repositories[i] = repository
		source := harness.HTTPS(t, cluster.Client, git, tenant, name, repository)
		source.Path = "./apps"
		listed = append(listed, source)
	}
	harness.Write(t, cluster.Client, tenant, listed...)
	return sources
}

// commit commits to a source, and waits until that is applied.
func (s *twoSources) commit(t *testing.T, source int, files map[string]string, removed ...string) {
	t.Helper()
	s.awaitApplied(t, source, s.push(t, source, files, removed...))
}

// push commits to a source without waiting. What changes nothing is no commit.
func (s *twoSources) push(t *testing.T, source int, files map[string]string, removed ...string) string {
	t.Helper()
	if len(files)+len(removed) == 0 {
		return ""
	}
	commit := harness.Commit(t, s.repositories[source], files, removed...)
	s.fetch(t, source)
	return commit
}

// fetch asks source-controller alone: the other source is not applied along with it.
func (s *twoSources) fetch(t *testing.T, source int) {
	t.Helper()
	repository := &sourcev1.GitRepository{ObjectMeta: metav1.ObjectMeta{Namespace: s.tenant, Name: "gitops-" + sourceNames[source]}}
	harness.AwaitExists(t, cluster.Client, repository)
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, meta.ReconcileRequestAnnotation, time.Now().Format(time.RFC3339Nano))
	if err := cluster.Client.Patch(t.Context(), repository, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
		t.Fatal(err)
	}
}

func (s *twoSources) awaitApplied(t *testing.T, source int, commit string) {
	t.Helper()
	harness.Await(t, fmt.Sprintf("commit %s of source %s", commit, sourceNames[source]), func(ctx context.Context) (bool, string) {
		status, err := s.status(ctx, source)
		if err != nil {
			return false, err.Error()
		}
		return status.Ready == metav1.ConditionTrue && strings.HasSuffix(status.AppliedRevision, commit),
			fmt.Sprintf("%s %s %s, applied %s", status.Ready, status.Reason, status.Message, status.AppliedRevision)
	})
}

func (s *twoSources) status(ctx context.Context, source int) (gitopsv1.SourceStatus, error) {
	tenant := &gitopsv1.TenantGitOps{}
	if err := cluster.Client.Get(ctx, client.ObjectKey{Namespace: s.tenant, Name: gitopsv1.TenantGitOpsName}, tenant); err != nil {
		return gitopsv1.SourceStatus{}, err
	}
	for _, status := range tenant.Status.Sources {
		if status.Name == sourceNames[source] {
			return status, nil
		}
	}
	return gitopsv1.SourceStatus{}, fmt.Errorf("no status of source %s", sourceNames[source])
}

// definitionOf is the schema that the catalog has for a kind.
func definitionOf(t *testing.T, name string) string {
	t.Helper()
	definition := &unstructured.Unstructured{}
	definition.SetGroupVersionKind(schema.GroupVersionKind{Group: "cozystack.io", Version: "v1alpha1", Kind: "ApplicationDefinition"})
	if err := cluster.Client.Get(t.Context(), client.ObjectKey{Name: name}, definition); err != nil {
		t.Fatal(err)
	}
	text, _, _ := unstructured.NestedString(definition.Object, "spec", "application", "openAPISchema")
	return text
}
