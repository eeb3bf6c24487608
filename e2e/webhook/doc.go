// Package webhook tests the admission webhook on a real API server, which calls it
// on loopback.
package webhook
