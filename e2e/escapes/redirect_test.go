package escapes_test

import (
	"context"
	"net/http"
	"testing"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/harness"
)

// redirectRow has source-controller fetch a repository whose server sends it elsewhere.
func redirectRow(t *testing.T, s *scenery) row {
	t.Helper()
	git := harness.NewGitServer(t)
	repository, _ := harness.NewRepository(t, git, "acme/redirects", nil)
	repository.AnswerWith(http.RedirectHandler(s.listener.url+"/redirected/info/refs?service=git-upload-pack", http.StatusFound))
	source := &sourcev1.GitRepository{
		ObjectMeta: metav1.ObjectMeta{Namespace: victim, Name: "redirects"},
		Spec:       sourcev1.GitRepositorySpec{URL: repository.HTTPURL(), Interval: metav1.Duration{Duration: hour}},
	}
	write(t, source)
	harness.Await(t, "source-controller to give up", func(ctx context.Context) (bool, string) {
		if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(source), source); err != nil {
			return false, err.Error()
		}
		for _, condition := range source.Status.Conditions {
			if condition.Type == sourcev1.FetchFailedCondition && condition.Status == metav1.ConditionTrue {
				return true, condition.Message
			}
		}
		return false, "no condition"
	})
	closed := !s.listener.heard("/redirected/", "")
	return row{
		section: "what a repository's server answers", escape: "a redirect to an address inside",
		allOn: closed, webhookOff: closed, policyOff: closed, flagsOff: closed,
		note: openInDNS,
	}
}
