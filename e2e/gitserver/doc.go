// Package gitserver is a small git server for tests and the demo: smart HTTP, HTTPS and
// SSH, with credentials for each repository, and an API to make commits from Go.
//
// It is written in Go all through, so that the same server runs beside a test and, as
// one static program, in a pod. Repositories live in memory. A fetch is always answered
// with all objects of what was asked for, whatever the client says it has.
package gitserver
