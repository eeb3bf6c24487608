package escapes_test

import "github.com/cozystack/gitops-operator/e2e/attempts"

const (
	withoutTenantGitOps = "one without a TenantGitOps"
	oneTooMany          = "one more than there may be"

	byOperator = "the operator refuses it too: TestTargetThatOnlyLooksLikeAChildIsRefused in controllers/tenantgitops"
	openInDNS  = "open: admission sees no addresses; spec.sourceEgress closes it, where it holds: TestSourcesLeadToNothingInternal in e2e/suites/pods"
	byURL      = "source-controller goes where it is told; spec.sourceEgress is a second layer, where an admin asks for it and it holds"
	bySource   = "source-controller is the platform's, with rights everywhere: what it is told is all"
)

// notes say why one layer must do, by kind, or by kind and escape; or that an escape is
// open.
var notes = map[string]string{
	"GitRepository": bySource,
	"OCIRepository": bySource,
	"TenantGitOps":  "the operator is refused what it would stamp, by the policies on sources and Kustomizations",

	"TenantGitOps: another target":             byOperator,
	"TenantGitOps: a tenant beside as target":  byOperator,
	"TenantGitOps: the tenant above as target": byOperator,

	"TenantGitOps: a foreign finalizer":            "it holds the tenant's own namespace, and nobody else's",
	"Kustomization: a grant to prune":              "it opens the guard of the tenant's own applications, until the operator takes it off",
	"Kustomization: an interval of too many hours": "every program can hold it",

	"GitRepository: " + oneTooMany: "a policy cannot count",
	"OCIRepository: " + oneTooMany: "a policy cannot count",

	"what a repository would have written": "its Role grants application kinds and no more; the API server refuses the rest by itself",
	requestForBase:                         "kustomize asks in spite of --no-remote-bases; network: TestControllerReachesWhatItNeedsAndNothingElse in e2e/suites/pods",
	"a base of a foreign repository":       "whoever can have a base fetched can commit its files",
}

// The notes on hosts are the same for all spellings.
func init() {
	for _, kind := range []string{"GitRepository", "OCIRepository"} {
		for _, attempt := range attempts.Hosts("spec.url", "https") {
			notes[kind+": "+attempt.Name] = byURL
		}
		for _, attempt := range attempts.PublicHosts("spec.url", "https") {
			notes[kind+": "+attempt.Name] = openInDNS
		}
	}
	for _, attempt := range attempts.TenantGitOpsHosts() {
		notes["TenantGitOps: "+attempt.Name] = byURL
	}
	for _, attempt := range attempts.PublicTenantGitOpsHosts() {
		notes["TenantGitOps: "+attempt.Name] = openInDNS
	}
}
