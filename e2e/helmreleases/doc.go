// Package helmreleases holds the stand-in for Flux's helm-controller to what is known of
// the real one, since what tests say of health is worth no more than it.
package helmreleases
