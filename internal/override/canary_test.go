package override_test

import (
	"strings"
	"testing"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/override"
)

// canary is a password. It is in every value that the cases have, as text, in a list and as
// what tells items apart; the number is another one.
const canary, canaryNumber = "canary-7f3a", "471147114711"

// TestNoMessageHoldsValues breaks overrides in every way that there is, and looks for the
// passwords in errors, in what the status says in words, and in the condition and the event.
func TestNoMessageHoldsValues(t *testing.T) {
	const secret = `{"password":"canary-7f3a","pin":471147114711,"list":[{"name":"canary-7f3a","value":"canary-7f3a"},{"name":"canary-7f3a"}],"pins":[{"id":471147114711},{"id":471147114711}]}`
	byKey := func(path, key string) cozyv1.ComponentValues {
		return cozyv1.ComponentValues{Values: json(secret), ListMerge: []cozyv1.ListMerge{{Path: path, Strategy: cozyv1.ListMergeByKey, Key: key}}}
	}
	under := func(values string, with cozyv1.ComponentValues) override.Seen { return seenOf(values, "web", with) }
	good := cozyv1.ComponentValues{Values: json(`{"list":[{"name":"a"}],"pins":[{"id":1}]}`), ListMerge: []cozyv1.ListMerge{
		{Path: "list", Strategy: cozyv1.ListMergeByKey, Key: "name"},
	}}
	goodPins := good
	goodPins.ListMerge = []cozyv1.ListMerge{{Path: "pins", Strategy: cozyv1.ListMergeByKey, Key: "id"}}
	for what, seen := range map[string]override.Seen{
		"the override's items have the same name":  under(``, byKey("list", "name")),
		"the override's items have the same id":    under(``, byKey("pins", "id")),
		"the override's items have no such key":    under(``, byKey("list", "value")),
		"the override's list is a list of strings": under(``, cozyv1.ComponentValues{Values: json(`{"a":["canary-7f3a"]}`), ListMerge: []cozyv1.ListMerge{{Path: "a", Strategy: cozyv1.ListMergeByKey, Key: "n"}}}),
		"the Package's items have the same name":   under(secret, good),
		"the Package's items have the same id":     under(secret, goodPins),
		"what is set is unset too":                 under(``, cozyv1.ComponentValues{Values: json(secret), Unset: []string{"password", "pin", "list"}}),
		"a path through a password":                under(secret, cozyv1.ComponentValues{Unset: []string{"password.a", "pin.b"}}),
		"the override is a text":                   under(``, cozyv1.ComponentValues{Values: json(`"canary-7f3a"`)}),
		"the override is a number":                 under(``, cozyv1.ComponentValues{Values: json(`471147114711`)}),
		"the override is cut off":                  under(``, cozyv1.ComponentValues{Values: json(secret[:len(secret)-3])}),
		"the override ends in a password":          under(``, cozyv1.ComponentValues{Values: json(secret[:20])}),
		"the Package's values are cut off":         under(secret[:len(secret)-1], cozyv1.ComponentValues{}),
		"the Package's values are a text":          under(`"canary-7f3a"`, cozyv1.ComponentValues{}),
		"a key twice":                              under(``, cozyv1.ComponentValues{Values: json(`{"a":"canary-7f3a","a":471147114711}`)}),
		"a bare word":                              under(``, cozyv1.ComponentValues{Values: json(`{"a":canary-7f3a}`)}),
	} {
		told := []string{}
		if err := override.Validate(seen.Values.Spec); err != nil {
			told = append(told, err.Error())
		}
		if _, err := seen.ForRelease(key("web")); err != nil {
			told = append(told, err.Error())
		}
		components := seen.Components()
		for _, component := range components {
			told = append(told, component.Message)
			told = append(told, component.WithoutEffect...)
		}
		verdict := override.VerdictOf(seen.Values.Spec, components)
		told = append(told, verdict.Message, verdict.Event)
		if verdict.Reason != cozyv1.ReasonInvalidValues && what != "a path through a password" {
			t.Errorf("%s: nothing is wrong: %+v", what, verdict)
		}
		for _, text := range told {
			if strings.Contains(text, canary) || strings.Contains(text, canaryNumber) {
				t.Errorf("%s: a password is told: %s", what, text)
			}
		}
	}
}

// TestEventsHoldNoWordsOfOthers: Helm and the API server quote values, and who reads events
// need not be one who reads PackageValues.
func TestEventsHoldNoWordsOfOthers(t *testing.T) {
	refused := seenOf(``, "web", cozyv1.ComponentValues{}, release(t, "web", ``, true))
	refused.Refused[key("web")] = `spec.values: Invalid value: "canary-7f3a"`
	failed := seenOf(``, "web", cozyv1.ComponentValues{}, release(t, "web", ``, true))
	ready := &failed.Releases[0].Status.Conditions[0]
	ready.Status, ready.Reason, ready.Message = "False", "UpgradeFailed", `env[0].value: Invalid value: "canary-7f3a"`
	for reason, seen := range map[string]override.Seen{cozyv1.ReasonNotStored: refused, cozyv1.ReasonReleaseFailed: failed} {
		verdict := override.VerdictOf(seen.Values.Spec, seen.Components())
		if verdict.Reason != reason || !strings.Contains(verdict.Message, canary) {
			t.Errorf("%s: the status does not say why: %+v", reason, verdict)
		}
		if strings.Contains(verdict.Event, canary) || !strings.Contains(verdict.Event, "release cozy-acme/web") {
			t.Errorf("%s: the event says %s", reason, verdict.Event)
		}
	}
}
