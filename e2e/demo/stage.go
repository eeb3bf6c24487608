package main

import (
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/gitserver"
)

// stage is a cluster that has all a tenant needs: Flux, the platform's kinds, the
// operator, and a git server.
type stage struct {
	kubeconfig string
	client     client.Client
	// repository is the tenant's.
	repository *gitserver.Repository
	// sourceURL is the repository as the cluster reaches it, pushURL as a person does.
	sourceURL, pushURL string
	// authority signed the git server's certificate.
	authority string
	// readOperatorLog is the command that shows what the operator says.
	readOperatorLog string
	// caveats are what this cluster lacks that a platform has.
	caveats []string
	// ended is told when something ended that should not have; nil if nothing can.
	ended <-chan error
	// explain adds to an error what the cluster's programs logged; nil if nothing can.
	explain func(error) error
}

// repositoryName is the path of the tenant's repository on the git server.
const repositoryName = "acme/apps"
