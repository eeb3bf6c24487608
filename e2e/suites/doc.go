// Package suites is what the suites on kind clusters share: one cluster for each
// package of tests, with the operator in it as its own Deployment, and what tests ask
// of real pods. The tests are in the packages below it, one for each way in which the
// platform's Flux may run:
//
//	go test -tags kind ./e2e/suites/pods ./e2e/suites/hostnetwork -p 1 -count 1
//
// With KEEP_CLUSTER=1 in the environment the cluster stays, and the next run uses it:
//
//	KEEP_CLUSTER=1 go test -tags kind ./e2e/suites/pods -count 1 -run Private
package suites
