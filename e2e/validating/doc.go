// Package validating tests, on a real API server and with real Flux controllers, what the
// operator refuses to people in tenants' namespaces: edits of what git manages, and sources.
package validating
