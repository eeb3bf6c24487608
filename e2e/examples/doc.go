// Package examples pushes the repositories of the folder examples to a test's git server, and
// knows what they come to: for tests that apply them.
package examples
