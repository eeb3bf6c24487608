package admission

import (
	"fmt"
	"net/url"
	"path"
	"strings"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
)

// Repository is where a Kustomization's manifests come from.
type Repository struct {
	// URL without whatever could be a credential; or, where it is not known, the object
	// that holds it.
	URL string
	// Ref says which revision of it is followed; empty where that is not known.
	Ref string
}

// place names a folder of the repository.
func (r Repository) place(folder string) string {
	place := fmt.Sprintf("%s of %s", "./"+strings.TrimPrefix(path.Clean("/"+folder), "/"), r.URL)
	if r.Ref == "" {
		return place
	}
	return place + " (" + r.Ref + ")"
}

// GitRepository is the repository of a source.
func GitRepository(source *sourcev1.GitRepository) Repository {
	repository := Repository{URL: withoutCredentials(source.Spec.URL, "GitRepository", source.Name), Ref: "branch master"}
	if ref := source.Spec.Reference; ref != nil {
		switch {
		case ref.Commit != "":
			repository.Ref = "commit " + ref.Commit
		case ref.Name != "":
			repository.Ref = ref.Name
		case ref.SemVer != "":
			repository.Ref = "tags " + ref.SemVer
		case ref.Tag != "":
			repository.Ref = "tag " + ref.Tag
		case ref.Branch != "":
			repository.Ref = "branch " + ref.Branch
		}
	}
	return repository
}

// OCIRepository is the repository of a source.
func OCIRepository(source *sourcev1.OCIRepository) Repository {
	repository := Repository{URL: withoutCredentials(source.Spec.URL, "OCIRepository", source.Name), Ref: "tag latest"}
	if ref := source.Spec.Reference; ref != nil {
		switch {
		case ref.Digest != "":
			repository.Ref = "digest " + ref.Digest
		case ref.SemVer != "":
			repository.Ref = "tags " + ref.SemVer
		case ref.Tag != "":
			repository.Ref = "tag " + ref.Tag
		}
	}
	return repository
}

// NamedSource is a repository of which only the source's name is known.
func NamedSource(kind, name string) Repository {
	return Repository{URL: fmt.Sprintf("the %s %s", kind, name)}
}

// withoutCredentials leaves scheme, host and path of an address: the rest could hold a
// word that is nobody's to read.
func withoutCredentials(address, kind, name string) string {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" {
		return NamedSource(kind, name).URL
	}
	return (&url.URL{Scheme: parsed.Scheme, Host: parsed.Host, Path: parsed.Path}).String()
}
