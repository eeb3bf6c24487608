// Package removal holds tests of what leaves git: from a push to the application as it is
// stored, served as on the platform and as custom resources.
package removal
