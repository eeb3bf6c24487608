// Package latekind tries the operator on an API that serves no HelmReleases at first. It
// has a cluster of its own, since the other suites' begin with them.
package latekind
