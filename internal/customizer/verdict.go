package customizer

import (
	"fmt"
	"slices"
	"strings"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/fluxstatus"
)

// Verdict is what there is to say of a Customizer as a whole.
type Verdict struct {
	// Ready, Reason and Message become the condition Ready.
	Ready   metav1.ConditionStatus
	Reason  string
	Message string
	// Stalled says that nothing goes on before somebody mends it.
	Stalled bool
}

// Seen is what Flux's objects look like; either may be missing still.
type Seen struct {
	Fetched       *fluxstatus.Fetched
	Kustomization *kustomizev1.Kustomization
}

// Judge says the first thing that is wrong on the way from the repository to the cluster.
// What was said last is heeded where it was about the same spec and revision, so that the
// repetitions at each interval are no news.
func Judge(c *gitopsv1.Customizer, seen Seen) Verdict {
	spec := c.Spec
	if spec.Suspend {
		return Verdict{Ready: metav1.ConditionTrue, Reason: gitopsv1.ReasonSuspended, Message: "reconciliation is suspended; what was applied stays as it is"}
	}
	verdict, decided := fetchVerdict(spec, seen.Fetched)
	if !decided {
		verdict = applyVerdict(spec, seen)
	}
	before := fluxstatus.ReadyCondition(c.Status.Conditions, c.Generation)
	if verdict.Ready == metav1.ConditionUnknown && before != nil && repeats(seen, before, c.Status.Revision) {
		return Verdict{Ready: before.Status, Reason: before.Reason, Message: before.Message}
	}
	return verdict
}

// repeats says whether Flux is only doing again what it has done, and what that came to stands
// until it comes to something else.
func repeats(seen Seen, before *metav1.Condition, revision string) bool {
	if seen.Fetched == nil || seen.Fetched.Artifact == nil || seen.Fetched.Artifact.Revision != revision || seen.Kustomization == nil {
		return false
	}
	k := seen.Kustomization
	if condition := fluxstatus.ReadyCondition(k.Status.Conditions, k.Generation); condition == nil || !fluxstatus.IsOnTheWay(condition) {
		return false
	}
	switch before.Status {
	case metav1.ConditionTrue:
		return before.Reason == gitopsv1.ReasonSucceeded && k.Status.LastAppliedRevision == revision
	case metav1.ConditionFalse:
		return slices.Contains(fluxstatus.ApplyFailures, before.Reason)
	default:
		return false
	}
}

func progressing(format string, args ...any) Verdict {
	return Verdict{Ready: metav1.ConditionUnknown, Reason: gitopsv1.ReasonProgressing, Message: fmt.Sprintf(format, args...)}
}

func fetchVerdict(spec gitopsv1.CustomizerSpec, fetched *fluxstatus.Fetched) (Verdict, bool) {
	if fetched == nil {
		return progressing("waiting for the repository to be fetched"), true
	}
	condition := fetched.Settled()
	switch {
	case condition == nil || condition.Status == metav1.ConditionUnknown:
		return progressing("fetching the repository"), true
	case condition.Status == metav1.ConditionFalse:
		return Verdict{Ready: metav1.ConditionFalse, Reason: condition.Reason, Message: "cannot fetch the repository: " + condition.Message + credentialHint(spec.Source)}, true
	}
	return Verdict{}, false
}

// credentialHint names the Secrets that were used, and what they must hold: the error of a git
// host says no more than "authentication required".
func credentialHint(source gitopsv1.CustomizerSource) string {
	var hints []string
	use := func(ref *meta.LocalObjectReference, holds string) {
		if ref != nil {
			hints = append(hints, fmt.Sprintf("Secret %s/%s must hold %s", gitopsv1.CustomizerNamespace, ref.Name, holds))
		}
	}
	if git := source.Git; git != nil {
		holds := "username and password, or bearerToken"
		if strings.HasPrefix(git.URL, "ssh://") {
			holds = "identity and known_hosts"
		}
		use(git.SecretRef, holds)
		if git.Verify != nil {
			use(&git.Verify.SecretRef, "the public keys of who may sign")
		}
		if git.SecretRef == nil && git.Verify == nil {
			return "; a private repository needs a Secret in " + gitopsv1.CustomizerNamespace + ", named in spec.source.git.secretRef"
		}
	}
	if oci := source.OCI; oci != nil {
		use(oci.SecretRef, ".dockerconfigjson")
		use(oci.CertSecretRef, "ca.crt, or tls.crt and tls.key")
	}
	if len(hints) == 0 {
		return ""
	}
	return " (" + strings.Join(hints, "; ") + ")"
}

func applyVerdict(spec gitopsv1.CustomizerSpec, seen Seen) Verdict {
	k := seen.Kustomization
	if k == nil {
		return progressing("waiting for the repository to be applied")
	}
	condition := fluxstatus.ReadyCondition(k.Status.Conditions, k.Generation)
	switch {
	case condition == nil:
		return progressing("waiting for the repository to be applied")
	case fluxstatus.IsOnTheWay(condition):
		return progressing("applying the repository")
	case condition.Status == metav1.ConditionFalse:
		return Verdict{Ready: metav1.ConditionFalse, Reason: condition.Reason, Message: condition.Message + applyHint(spec, condition.Message)}
	case seen.Fetched.Artifact != nil && k.Status.LastAppliedRevision != seen.Fetched.Artifact.Revision:
		return progressing("applying %s", seen.Fetched.Artifact.Revision)
	}
	return Verdict{Ready: metav1.ConditionTrue, Reason: gitopsv1.ReasonSucceeded, Message: "applied " + k.Status.LastAppliedRevision}
}

// applyHint says the mend where Flux's words do not.
func applyHint(spec gitopsv1.CustomizerSpec, message string) string {
	switch {
	case strings.Contains(message, "forbidden: User \"system:serviceaccount:"+gitopsv1.CustomizerNamespace):
		switch spec.RBAC.Profile {
		case gitopsv1.ProfileOverridesOnly:
			return "; the profile OverridesOnly may write PackageValues only: remove the file, or use another spec.rbac.profile"
		case gitopsv1.ProfileClusterAdmin:
			return ""
		default:
			return "; the profile Curated may not: list the namespace in spec.rbac.ownedNamespaces, or the resource in spec.rbac.extraRules"
		}
	case strings.Contains(message, "kustomization path not found"):
		return "; spec.kustomization.path is a folder of the repository"
	case spec.Kustomization.Decryption != nil && spec.Kustomization.Decryption.SecretRef != nil && strings.Contains(strings.ToLower(message), "decrypt"):
		return fmt.Sprintf(" (Secret %s/%s must hold the private key, under a key that ends in .agekey or .asc)", gitopsv1.CustomizerNamespace, spec.Kustomization.Decryption.SecretRef.Name)
	}
	return ""
}

// Objects is how many objects the repository has in the cluster.
func Objects(k *kustomizev1.Kustomization) int64 {
	if k == nil || k.Status.Inventory == nil {
		return 0
	}
	return int64(len(k.Status.Inventory.Entries))
}
