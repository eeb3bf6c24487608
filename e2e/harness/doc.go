// Package harness is what the suites on a test cluster share: starting the
// operator in the test's process as its own service account, tenants with a
// TenantGitOps, and waiting for a state with what was seen last in the failure.
package harness
