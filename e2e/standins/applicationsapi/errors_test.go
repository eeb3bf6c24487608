package main

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// wantServerError checks for a failure whose code is hidden behind a server's error.
func wantServerError(t *testing.T, err error, part string) {
	t.Helper()
	var status apierrors.APIStatus
	if !errors.As(err, &status) || status.Status().Code != http.StatusInternalServerError || !strings.Contains(err.Error(), part) {
		t.Errorf("error %v, want code 500 and %q", err, part)
	}
}

func TestFailuresOfReleasesAreServerErrors(t *testing.T) {
	newTenant(t, "tenant-errors")
	object := postgres("tenant-errors", "db", map[string]any{"size": "1Gi"})
	create(t, object)
	again := postgres("tenant-errors", "db", map[string]any{"size": "1Gi"})
	wantServerError(t, cluster.Client.Create(t.Context(), again), "already exists")

	outdated := object.DeepCopy()
	object.Object["spec"] = map[string]any{"size": "2Gi"}
	if err := cluster.Client.Update(t.Context(), object); err != nil {
		t.Fatal(err)
	}
	outdated.Object["spec"] = map[string]any{"size": "3Gi"}
	wantServerError(t, cluster.Client.Update(t.Context(), outdated), "the object has been modified")

	missing := postgres("tenant-errors", "missing", nil)
	missing.SetResourceVersion("1")
	if err := cluster.Client.Update(t.Context(), missing); !apierrors.IsNotFound(err) {
		t.Errorf("update of a missing application: %v, want not found", err)
	}
}
