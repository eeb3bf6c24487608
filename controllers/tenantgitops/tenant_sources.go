package tenantgitops

import (
	sourcev1 "github.com/fluxcd/source-controller/api/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/internal/oversize"
)

// tenantSource is a GitRepository or OCIRepository of a tenant's namespace, whoever wrote it.
type tenantSource struct {
	object    client.Object
	kind      string
	suspended bool
	stored    oversize.Source
}

func gitSource(repository *sourcev1.GitRepository) tenantSource {
	return tenantSource{
		object: repository, kind: sourcev1.GitRepositoryKind, suspended: repository.Spec.Suspend,
		stored: oversize.Source{
			Generation: repository.Generation, Content: oversize.GitContent(repository.Spec),
			Held: repository.Annotations[oversize.HeldAnnotation], Artifact: repository.Status.Artifact,
			Conditions: repository.Status.Conditions,
		},
	}
}

func ociSource(repository *sourcev1.OCIRepository) tenantSource {
	return tenantSource{
		object: repository, kind: sourcev1.OCIRepositoryKind, suspended: repository.Spec.Suspend,
		stored: oversize.Source{
			Generation: repository.Generation, Content: oversize.OCIContent(repository.Spec),
			Held: repository.Annotations[oversize.HeldAnnotation], Artifact: repository.Status.Artifact,
			Conditions: repository.Status.Conditions,
		},
	}
}

// source returns the live source of a kind and name, or nil.
func (l *live) source(kind, name string) *tenantSource {
	for i := range l.sources {
		if l.sources[i].kind == kind && l.sources[i].object.GetName() == name {
			return &l.sources[i]
		}
	}
	return nil
}
