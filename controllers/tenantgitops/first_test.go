package tenantgitops_test

import "testing"

func TestFirst(t *testing.T) {}
