package guards

import _ "embed"

// Golden is the table as it has to be, of the accounts called by Names.
//
//go:embed testdata/guards.golden
var Golden string

// Names of the accounts of Golden, in its order: of a Customizer with both guards, of one with
// neither, of the platform's Flux, and an administrator.
var Names = []string{"a repository under both guards", "a repository under none", "the platform's Flux", "an administrator"}
