// Package oversize decides which sources are held, since what they fetched is larger
// than the platform's admin allows. It holds no client: a decision is a pure function of
// the source's spec and status.
package oversize

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	sourcev1 "github.com/fluxcd/source-controller/api/v1"
)

// HeldAnnotation on a source that is held has the digest of what it was fetched by. With
// it goes spec.suspend. The admission policies let nobody but the operator and the
// platform's admins take either away, unless what is fetched changes in the same write.
const HeldAnnotation = "gitops.cozystack.io/held"

// GitContent is a digest of all in a GitRepository's spec that decides what it fetches,
// and not how often, or with which credentials: when it changes the source gets another try.
func GitContent(spec sourcev1.GitRepositorySpec) string {
	return digest(spec.URL, spec.Reference, spec.Ignore, spec.RecurseSubmodules, spec.SparseCheckout)
}

// OCIContent is the same of an OCIRepository's spec.
func OCIContent(spec sourcev1.OCIRepositorySpec) string {
	return digest(spec.URL, spec.Reference, spec.Ignore, spec.LayerSelector)
}

// digestLength is the number of hex digits of a digest.
const digestLength = 16

func digest(fields ...any) string {
	// Strings, booleans and plain structs of them: this cannot fail.
	text, _ := json.Marshal(fields)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])[:digestLength]
}
