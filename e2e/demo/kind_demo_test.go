//go:build kind

package main

import "testing"

// TestKindDemo is "make demo CLUSTER=kind".
func TestKindDemo(t *testing.T) { tryDemo(t, "kind") }
