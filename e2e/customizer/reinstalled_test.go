package customizer_test

import (
	"testing"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/manifests"
)

// TestReinstalledDefinitionDeletesNothing deletes the definition of Customizers, and with it one
// that asks for all that it applied to be deleted with it; then installs it again.
func TestReinstalledDefinitionDeletesNothing(t *testing.T) {
	stopOperator(t)
	startOperator(t)
	const name = "reinstalled"
	c, _ := newCustomizer(t, name, map[string]string{"a.yaml": priorityClass("acme-reinstalled", 1)})
	c.Spec.Kustomization.DeletionPolicy = kustomizev1.DeletionPolicyDelete
	create(t, c)
	awaitState(t, name, metav1.ConditionTrue, gitopsv1.ReasonSucceeded)
	class := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "acme-reinstalled"}}
	wantThere(t, class)
	uid := class.UID

	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "customizers.gitops.cozystack.io"}}
	if err := cluster.Client.Delete(t.Context(), crd); err != nil {
		t.Fatal(err)
	}
	harness.AwaitGone(t, cluster.Client, crd)
	if left := leftovers(t, name); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
	wantThere(t, class)
	stopForNow(t)

	if err := manifests.ApplyPaths(t.Context(), cluster.Client, root+"/config/crd/bases"); err != nil {
		t.Fatal(err)
	}
	startOperator(t)
	again := c.DeepCopy()
	again.ObjectMeta = metav1.ObjectMeta{Name: name}
	again.Status = gitopsv1.CustomizerStatus{}
	create(t, again)
	awaitState(t, name, metav1.ConditionTrue, gitopsv1.ReasonSucceeded)
	wantThere(t, class)
	if class.UID != uid {
		t.Error("the class is another one")
	}
}
