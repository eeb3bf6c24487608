//go:build !kind

package main

import (
	"strings"
	"testing"
)

// TestEmbeddedDemo is "make demo".
func TestEmbeddedDemo(t *testing.T) {
	demo := tryDemo(t, "embedded")
	if !strings.Contains(demo.all(), "enforcement of NetworkPolicies") {
		t.Error("the demo does not say that nothing enforces NetworkPolicies")
	}
}
