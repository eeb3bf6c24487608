// Package kind makes Kubernetes clusters whose pods are real and whose NetworkPolicies
// are enforced, without an image registry.
//
// The node image is Debian with the programs of e2e/programs in it, the cluster is
// kind's. What is missing on a Debian machine is installed when the process is root's:
// Debian packages, and a Docker daemon of our own where none runs. Everything that is
// made once lies in the cache folder of e2e/programs.
//
// With NODE_IMAGE set, that image (a kindest/node) is used instead: Docker pulls it,
// and its own network plugin enforces the policies.
package kind
