// Package hostnetwork holds the tests of the artifact seal beside a Flux on the host
// network, as a stock Cozystack has it.
package hostnetwork
