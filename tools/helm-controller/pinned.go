// Package pinned has the go command keep what is read, but not run, in go.mod.
package pinned

import _ "github.com/fluxcd/helm-controller/api/v2" // HelmRelease, as the platform serves it
