// Package isolation has no code, only the tests that try to get out of a tenant.
package isolation
