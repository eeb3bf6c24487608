// Package programs builds the programs that tests and demo run from their Go
// modules, and keeps them in a cache outside the tree.
//
// Every program belongs to a group: a folder tools/<group> whose go.mod and go.sum
// pin the program's module and all that it is made of. A program is built once for
// each content of those two files, Go version and link flags; a second run builds
// nothing.
package programs

import "strings"

// Program says where a program comes from.
type Program struct {
	// Name is what the program is called, and its file name in the cache.
	Name string
	// Group is the folder of tools/ that pins it.
	Group string
	// Module is the Go module that holds it; its version is the program's.
	Module string
	// Package is the path of its main package below the module, "" for the module's root.
	Package string
	// Stamp names the variables that the linker sets to the version, nil for none.
	Stamp func(version string) map[string]string
}

// ImportPath is the import path of the program's main package.
func (p Program) ImportPath() string {
	if p.Package == "" {
		return p.Module
	}
	return p.Module + "/" + p.Package
}

const (
	kubernetes = "k8s.io/kubernetes"
	containerd = "github.com/containerd/containerd/v2"
)

// table lists the programs in the order in which they are built: what the embedded
// cluster needs first, then what generates code, then what only a kind node needs.
var table = []Program{
	{Name: "etcd", Group: "etcd", Module: "go.etcd.io/etcd/server/v3"},
	{Name: "kube-apiserver", Group: "kubernetes", Module: kubernetes, Package: "cmd/kube-apiserver", Stamp: kubernetesVersion},
	{Name: "kubectl", Group: "kubernetes", Module: kubernetes, Package: "cmd/kubectl", Stamp: kubernetesVersion},
	{Name: "source-controller", Group: "source-controller", Module: "github.com/fluxcd/source-controller"},
	{Name: "kustomize-controller", Group: "kustomize-controller", Module: "github.com/fluxcd/kustomize-controller"},
	{Name: "kube-controller-manager", Group: "kubernetes", Module: kubernetes, Package: "cmd/kube-controller-manager", Stamp: kubernetesVersion},
	{Name: "sops", Group: "sops", Module: "github.com/getsops/sops/v3", Package: "cmd/sops"},
	{Name: "controller-gen", Group: "controller-gen", Module: "sigs.k8s.io/controller-tools", Package: "cmd/controller-gen", Stamp: controllerGenVersion},
	{Name: "kind", Group: "kind", Module: "sigs.k8s.io/kind"},
	{Name: "crictl", Group: "cri-tools", Module: "sigs.k8s.io/cri-tools", Package: "cmd/crictl"},
	{Name: "containerd", Group: "containerd", Module: containerd, Package: "cmd/containerd", Stamp: containerdVersion},
	{Name: "containerd-shim-runc-v2", Group: "containerd", Module: containerd, Package: "cmd/containerd-shim-runc-v2", Stamp: containerdVersion},
	{Name: "ctr", Group: "containerd", Module: containerd, Package: "cmd/ctr", Stamp: containerdVersion},
	{Name: "kubeadm", Group: "kubernetes", Module: kubernetes, Package: "cmd/kubeadm", Stamp: kubernetesVersion},
	{Name: "kubelet", Group: "kubernetes", Module: kubernetes, Package: "cmd/kubelet", Stamp: kubernetesVersion},
	{Name: "kube-proxy", Group: "kubernetes", Module: kubernetes, Package: "cmd/kube-proxy", Stamp: kubernetesVersion},
	{Name: "kube-scheduler", Group: "kubernetes", Module: kubernetes, Package: "cmd/kube-scheduler", Stamp: kubernetesVersion},
	{Name: "coredns", Group: "coredns", Module: "github.com/coredns/coredns"},
	{Name: "kube-router", Group: "kube-router", Module: "github.com/cloudnativelabs/kube-router/v2", Package: "cmd/kube-router"},
	{Name: "golangci-lint", Group: "golangci-lint", Module: "github.com/golangci/golangci-lint/v2", Package: "cmd/golangci-lint", Stamp: golangciVersion},
}

// All lists every program, in the order in which they are built.
func All() []Program {
	return append([]Program(nil), table...)
}

// kubernetesVersion stamps the release. Without it the API server calls itself
// v0.0.0-master and kubeadm refuses to work with it.
func kubernetesVersion(version string) map[string]string {
	const pkg = "k8s.io/component-base/version."
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	stamp := map[string]string{pkg + "gitVersion": version, pkg + "gitTreeState": "clean"}
	if len(parts) == 3 {
		stamp[pkg+"gitMajor"], stamp[pkg+"gitMinor"] = parts[0], parts[1]
	}
	return stamp
}

// containerdVersion stamps the version that kind reads from "containerd --version".
func containerdVersion(version string) map[string]string {
	return map[string]string{containerd + "/version.Version": version}
}

// controllerGenVersion stamps the version that generated CRDs carry as an annotation.
func controllerGenVersion(version string) map[string]string {
	return map[string]string{"sigs.k8s.io/controller-tools/pkg/version.version": version}
}

// golangciVersion stamps the version that the linter prints.
func golangciVersion(version string) map[string]string {
	return map[string]string{"main.version": strings.TrimPrefix(version, "v")}
}
