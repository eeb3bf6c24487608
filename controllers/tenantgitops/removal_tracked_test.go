package tenantgitops

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/helmrelease"
	"github.com/cozystack/gitops-operator/internal/pruneguard"
	"github.com/cozystack/gitops-operator/internal/removal"
)

func release(namespace, name, kept string) helmrelease.HelmRelease {
	return helmrelease.HelmRelease{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: "redis-" + name,
		Labels:      map[string]string{helmrelease.KindLabel: "Redis", helmrelease.GroupLabel: "apps.cozystack.io", helmrelease.NameLabel: name},
		Annotations: map[string]string{removal.ReleaseAnnotation: kept},
	}}
}

func TestRemovalOffNamesTheApplicationsOfTheSource(t *testing.T) {
	applications := map[pruneguard.Application]bool{}
	var releases []helmrelease.HelmRelease
	for name, kept := range map[string]string{"b": "off: too much", "tracked": "{}", "a": "off: too much", "never": ""} {
		releases = append(releases, release("tenant-acme", name, kept))
		applications[pruneguard.Application{Namespace: "tenant-acme", Name: name, Kind: "Redis"}] = true
	}
	releases = append(releases, release("tenant-acme", "others", "off: too much"), release("tenant-acme-x", "below", "off: too much"))
	applications[pruneguard.Application{Namespace: "tenant-acme-x", Name: "below", Kind: "Redis"}] = true
	want := []string{"redis a: too much", "redis b: too much", "redis tenant-acme-x/below: too much"}
	if got := removalOff(applications, releases, "tenant-acme"); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}

	for i := range 50 {
		name := fmt.Sprint("more-", i)
		releases = append(releases, release("tenant-acme", name, "off: "+strings.Repeat("x", 30<<10)))
		applications[pruneguard.Application{Namespace: "tenant-acme", Name: name, Kind: "Redis"}] = true
	}
	off := removalOff(applications, releases, "tenant-acme")
	p := &pass{tenant: &gitopsv1.TenantGitOps{Status: gitopsv1.TenantGitOpsStatus{Sources: []gitopsv1.SourceStatus{{RemovalOff: off}}}}}
	p.setRemovalTracked()
	condition := apimeta.FindStatusCondition(p.tenant.Status.Conditions, gitopsv1.RemovalTrackedCondition)
	if len(off) != 20 || condition == nil || condition.Status != metav1.ConditionFalse || len(condition.Message) > maxMessage+8 {
		t.Errorf("%d names, condition %.300v", len(off), condition)
	}
	p.tenant.Status.Sources[0].RemovalOff = nil
	p.setRemovalTracked()
	if len(p.tenant.Status.Conditions) > 0 {
		t.Errorf("what fits again still has %v", p.tenant.Status.Conditions)
	}
}
