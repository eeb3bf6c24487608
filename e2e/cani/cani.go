// Package cani asks an API server what an account may do, as `kubectl auth can-i` does.
package cani

import (
	"context"
	"fmt"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// verbs are asked about in this order.
var verbs = []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}

// clusterWide are resources, as <resource>.<group>, asked about for the whole cluster.
var clusterWide = []string{
	"packagevalues.cozystack.io", "packages.cozystack.io", "packages/status.cozystack.io", "packagesources.cozystack.io", "applicationdefinitions.cozystack.io",
	"customizers.gitops.cozystack.io", "gitopsparameters.gitops.cozystack.io", "tenantgitops.gitops.cozystack.io",
	"storageclasses.storage.k8s.io", "volumesnapshotclasses.snapshot.storage.k8s.io", "priorityclasses.scheduling.k8s.io", "runtimeclasses.node.k8s.io",
	"ingressclasses.networking.k8s.io", "clusterissuers.cert-manager.io", "ipaddresspools.metallb.io", "ciliumloadbalancerippools.cilium.io",
	"helmreleases.helm.toolkit.fluxcd.io", "kustomizations.kustomize.toolkit.fluxcd.io", "gitrepositories.source.toolkit.fluxcd.io", "ocirepositories.source.toolkit.fluxcd.io",
	"customresourcedefinitions.apiextensions.k8s.io", "apiservices.apiregistration.k8s.io",
	"mutatingwebhookconfigurations.admissionregistration.k8s.io", "validatingwebhookconfigurations.admissionregistration.k8s.io",
	"validatingadmissionpolicies.admissionregistration.k8s.io", "validatingadmissionpolicybindings.admissionregistration.k8s.io",
	"clusterroles.rbac.authorization.k8s.io", "clusterrolebindings.rbac.authorization.k8s.io",
	"namespaces", "nodes", "persistentvolumes", "secrets", "pods", "configmaps",
}

// namespaced are asked about in single namespaces.
var namespaced = []string{
	"configmaps", "secrets", "services", "serviceaccounts", "serviceaccounts/token", "persistentvolumeclaims", "pods", "pods/exec", "events",
	"deployments.apps", "statefulsets.apps", "daemonsets.apps", "replicasets.apps", "jobs.batch", "cronjobs.batch",
	"ingresses.networking.k8s.io", "networkpolicies.networking.k8s.io", "poddisruptionbudgets.policy", "horizontalpodautoscalers.autoscaling",
	"roles.rbac.authorization.k8s.io", "rolebindings.rbac.authorization.k8s.io",
	"helmreleases.helm.toolkit.fluxcd.io", "kustomizations.kustomize.toolkit.fluxcd.io", "gitrepositories.source.toolkit.fluxcd.io",
	"postgreses.apps.cozystack.io",
}

// Matrix says what a service account may do, cluster-wide and in these namespaces.
func Matrix(ctx context.Context, admin client.Client, namespace, account string, within ...string) (string, error) {
	var matrix strings.Builder
	ask := func(title, in string, resources []string) error {
		fmt.Fprintf(&matrix, "%s:\n", title)
		for _, resource := range resources {
			allowed, err := allowedVerbs(ctx, admin, namespace, account, in, resource)
			if err != nil {
				return err
			}
			fmt.Fprintf(&matrix, "    %-64s %s\n", resource, allowed)
		}
		return nil
	}
	if err := ask("everywhere", "", clusterWide); err != nil {
		return "", err
	}
	for _, in := range within {
		if err := ask("in "+in, in, namespaced); err != nil {
			return "", err
		}
	}
	return matrix.String(), nil
}

func allowedVerbs(ctx context.Context, admin client.Client, namespace, account, within, resource string) (string, error) {
	name, group, _ := strings.Cut(resource, ".")
	name, subresource, _ := strings.Cut(name, "/")
	var allowed []string
	for _, verb := range verbs {
		review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
			User:   "system:serviceaccount:" + namespace + ":" + account,
			Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"},
			ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: within, Verb: verb, Group: group, Resource: name, Subresource: subresource,
			},
		}}
		if err := admin.Create(ctx, review); err != nil {
			return "", fmt.Errorf("ask whether %s may %s %s: %w", account, verb, resource, err)
		}
		if review.Status.Allowed {
			allowed = append(allowed, verb)
		}
	}
	if len(allowed) == 0 {
		return "-", nil
	}
	return strings.Join(allowed, " "), nil
}
