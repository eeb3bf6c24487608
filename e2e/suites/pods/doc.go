// Package pods holds the suite on a kind cluster where the platform's Flux runs in
// pods of its own.
package pods
