// Package health tries, with real releases on a test cluster, what a source says of the
// applications that it has applied: whether it waits for them or not.
package health
