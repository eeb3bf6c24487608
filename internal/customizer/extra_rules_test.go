package customizer_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cozystack/gitops-operator/internal/customizer"
)

// TestNotHeld reads how the API server refuses, and nothing else.
func TestNotHeld(t *testing.T) {
	role := schema.GroupResource{Group: rbacv1.GroupName, Resource: "clusterroles"}
	refused := apierrors.NewForbidden(role, "cozystack-customizer:extra", errors.New(`user "operator" is attempting to grant RBAC permissions not currently held:
{APIGroups:["example.org"], Resources:["things"], Verbs:["get"]}
{APIGroups:["example.org"], Resources:["others"], Verbs:["get"]}`))
	for name, c := range map[string]struct {
		err  error
		want string
		ok   bool
	}{
		"nothing":             {err: nil},
		"another refusal":     {err: apierrors.NewForbidden(role, "a", errors.New("no"))},
		"rules, on one line":  {err: refused, ok: true, want: `{APIGroups:["example.org"], Resources:["things"], Verbs:["get"]} {APIGroups:["example.org"], Resources:["others"], Verbs:["get"]}`},
		"wrapped by a caller": {err: fmt.Errorf("cannot apply: %w", refused), ok: true, want: `{APIGroups:["example.org"], Resources:["things"], Verbs:["get"]} {APIGroups:["example.org"], Resources:["others"], Verbs:["get"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := customizer.NotHeld(c.err)
			if ok != c.ok || ok && got != c.want {
				t.Errorf("the rules are %q, %t; want %q, %t", got, ok, c.want, c.ok)
			}
		})
	}
	if message := customizer.MessageNotHeld("{things}"); !strings.Contains(message, "{things}") || !strings.Contains(message, customizer.GrantableLabel+"=true") {
		t.Errorf("the mend is not told: %s", message)
	}
}

// TestUnresolved: each resource once, whatever its subresources and rules.
func TestUnresolved(t *testing.T) {
	served := func(group, resource string) (bool, error) {
		return group == "" && resource == "secrets" || group == "apps" && resource == "deployments", nil
	}
	rules := []rbacv1.PolicyRule{
		{APIGroups: []string{"", "apps"}, Resources: []string{"secrets", "deployments/scale"}},
		{APIGroups: []string{"apps"}, Resources: []string{"deployments", "secrets"}},
		{NonResourceURLs: []string{"/metrics"}},
	}
	got, err := customizer.Unresolved(rules, served)
	if want := []string{"deployments", "secrets.apps"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("unresolved are %v, want %v: %v", got, want, err)
	}
	away := errors.New("the API server is away")
	if got, err := customizer.Unresolved(rules, func(string, string) (bool, error) { return false, away }); !errors.Is(err, away) || got != nil {
		t.Errorf("while nobody knows, unresolved are %v: %v", got, err)
	}
}
