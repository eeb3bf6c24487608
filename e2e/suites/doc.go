// Package suites is what the suites on kind clusters share: one cluster for each
// package of tests, with the operator in it as its own Deployment, and what tests ask
// of real pods. The tests are in the packages below it, one for each way in which the
// platform's Flux may run.
package suites
