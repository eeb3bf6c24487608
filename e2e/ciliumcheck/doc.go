// Package ciliumcheck holds the operator's clusterwide policy to Cilium's own types,
// its CRD and its policy engine. It is a module of its own, so that the operator
// does not come to depend on Cilium.
package ciliumcheck
