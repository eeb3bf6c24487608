// Package embedded runs a Kubernetes cluster as plain processes: etcd, kube-apiserver
// and kube-controller-manager, and on request the Flux controllers of the platform.
// It needs neither root nor Docker, and everything listens on loopback.
//
// There are no nodes. A runner stands in for them in the namespace of the tenants'
// controllers: it starts the program of each Deployment as a process, with the
// Deployment's own arguments, environment and service account, and reports on the
// Deployment and a Pod what a kubelet would. So stamped flags and Roles are really
// tried; NetworkPolicies are not enforced.
package embedded
