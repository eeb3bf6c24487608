// Package hostnetwork holds the suite on a kind cluster where the platform's Flux runs
// on the host network in one pod, as on a stock Cozystack.
package hostnetwork
