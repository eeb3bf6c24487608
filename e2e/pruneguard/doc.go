// Package pruneguard holds the tests of the prune guard with the real Flux: what a
// revision may delete by itself, what waits for the tenant, and what the tenant reads.
package pruneguard
