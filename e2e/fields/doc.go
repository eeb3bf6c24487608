// Package fields holds the suite that tries every field a TenantGitOps accepts,
// and every way a credential can be wrong, on an embedded cluster with the real
// Flux controllers. One operator serves all tests; each test has tenants of its
// own.
package fields
