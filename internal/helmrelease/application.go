package helmrelease

import (
	"github.com/cozystack/gitops-operator/internal/pruneguard"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

// The labels by which the platform marks the HelmRelease of an application. Its name does
// not tell: most modules have no prefix, and kinds may share one.
const (
	KindLabel  = stamp.ApplicationsGroup + "/application.kind"
	GroupLabel = stamp.ApplicationsGroup + "/application.group"
	NameLabel  = stamp.ApplicationsGroup + "/application.name"
)

// Application is the application that a HelmRelease stands for, as inventories call it.
func (r *HelmRelease) Application() (application pruneguard.Application, ok bool) {
	application = pruneguard.Application{
		Namespace: r.Namespace, Name: r.Labels[NameLabel], Kind: r.Labels[KindLabel],
	}
	ok = r.Labels[GroupLabel] == stamp.ApplicationsGroup && application.Kind != "" && application.Name != ""
	return application, ok
}
