package cani

import _ "embed"

// Curated is what the account of a Customizer with the profile Curated may do: everywhere, in
// the namespace acme-rights of its own, and in kube-system.
//
//go:embed testdata/curated.golden
var Curated string

// OverridesOnly is the same of the profile OverridesOnly.
//
//go:embed testdata/overrides_only.golden
var OverridesOnly string

// Within are the namespaces that Curated and OverridesOnly are about; the first one is the
// repository's own.
var Within = []string{"acme-rights", "kube-system"}
