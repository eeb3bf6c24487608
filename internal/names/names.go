// Package names makes the names of all that the operator stamps. Every name is
// a pure function of the tenant's namespace and the source, so that an object
// is found again without a list.
package names

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// MaxLabel is the longest label value, and the longest name that may become
// one (RFC 1123 label).
const MaxLabel = 63

// hashLength is the number of hex digits that a shortened name ends with.
const hashLength = 16

const (
	// ControllerRole is the name of the Role and RoleBinding, in the tenant's
	// namespace, of the tenant's controller.
	ControllerRole = "kustomize-controller"
	// controllerPrefix begins the name of a tenant's controller.
	controllerPrefix = "kustomize-controller-"
	// AgeSecret is the Secret with the generated age identity of a namespace.
	AgeSecret = "age.gitops"
	// AgeSecretKey is the key in AgeSecret; kustomize-controller reads every
	// key that ends in .agekey.
	AgeSecretKey = "identity.agekey"
	// sourcePrefix begins the name of the Flux objects of a source.
	sourcePrefix = "gitops-"
)

// Shorten returns name where it is shorter than limit, else its beginning, a
// dash and a hash of the whole, of exactly limit characters. No name that is
// returned unchanged is as long as a shortened one, so nobody can choose a name
// that equals the shortened name of somebody else.
//
// Limit must exceed 17, the length of the dash and the hash.
func Shorten(name string, limit int) string {
	if len(name) < limit {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	digest := hex.EncodeToString(sum[:])[:hashLength]
	head := name[:limit-hashLength-1]
	// A dot or dash before the dash would be legal in some names and not in
	// others; padding with x keeps the length and the alphabet.
	trimmed := strings.TrimRight(head, "-.")
	return trimmed + strings.Repeat("x", len(head)-len(trimmed)) + "-" + digest
}

// Shard is the value of sharding.fluxcd.io/key for a tenant: its namespace,
// which is never longer than a label value.
func Shard(namespace string) string { return namespace }

// GitAccount is the service account that git acts as in the tenant's namespace,
// and the Role and RoleBinding of it there. It is never shortened: people and policies
// derive it from the namespace's name alone.
func GitAccount(namespace string) string { return namespace + "-gitops" }

// GitRole is the Role and RoleBinding of owner's git account in a namespace. In that of
// a tenant below it is not called as the account: the child "gitops" of tenant-a lives in
// tenant-a-gitops, where the platform has objects of just that name.
func GitRole(owner, namespace string) string {
	if namespace == owner {
		return GitAccount(owner)
	}
	return "gitops-for-" + owner
}

// Controller is the name of a tenant's controller: Deployment, ServiceAccount
// and NetworkPolicy in the controllers' namespace, and value of a label.
func Controller(namespace string) string {
	return Shorten(controllerPrefix+Shard(namespace), MaxLabel)
}

// SelfBinding is the RoleBinding by which the operator may work in a namespace
// on behalf of the TenantGitOps of owner.
func SelfBinding(owner string) string { return "gitops-operator-for-" + owner }

// OwnerLabel is the value of the label that leads from a stamped object to its
// TenantGitOps.
func OwnerLabel(namespace string) string { return namespace }

// FluxObject is the name of a source's GitRepository or OCIRepository, and of
// its Kustomization.
func FluxObject(source string) string { return sourcePrefix + source }

// SourceOf is the inverse of FluxObject; ok is false for other names.
func SourceOf(fluxObject string) (source string, ok bool) {
	return strings.CutPrefix(fluxObject, sourcePrefix)
}

// DeployKeySecret is the Secret with the generated deploy key of a source.
func DeployKeySecret(source string) string { return "deploykey-" + source + ".gitops" }
