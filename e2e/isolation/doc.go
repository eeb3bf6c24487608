// Package isolation tries, as a real tenant's admin on a real API server, what a tenant
// must not be able to write past the operator.
package isolation
