package admission

import "strings"

// platformNamespaces hold the accounts of the platform's controllers, which write on
// behalf of people and pipelines of their own: the garbage collector and the end of
// namespaces (kube-system), the platform's operators and the jobs that clean a tenant up
// (cozy-system), and its Flux (cozy-fluxcd; flux-system elsewhere). The platform's own
// admission policies trust the same ones. The operator is not among them: it writes no
// applications. config/webhook/validating.yaml lists them too, so that they are not
// stopped while the operator is down.
var platformNamespaces = []string{"kube-system", "cozy-system", "cozy-fluxcd", "flux-system"}

func isPlatform(user string) bool {
	for _, namespace := range platformNamespaces {
		if strings.HasPrefix(user, serviceAccount(namespace, "")) {
			return true
		}
	}
	return false
}

// serviceAccount is the user name of a service account.
func serviceAccount(namespace, name string) string {
	return "system:serviceaccount:" + namespace + ":" + name
}
