package escapes_test

import (
	"testing"
)

// of finds what came of an escape at the controller that is held so; no controller was
// asked where nothing is known, which closes nothing.
func (a atController) of(flags, roles bool) bool {
	for _, c := range controllers {
		if c.flags == flags && c.roles == roles {
			return a[c.tenant]
		}
	}
	return false
}

// admissionRow is the row of an escape that is written by people.
func admissionRow(t *testing.T, try admissionTry, at map[admissionState]answer, controller atController) row {
	t.Helper()
	closed := func(webhooks, policies bool) bool { return at[admissionState{webhooks, policies}] != passed }
	kind := try.good.GetKind()
	both, flags, roles := controller.of(true, true), controller.of(true, false), controller.of(false, true)
	r := row{
		section: "what a tenant's " + kind + " says", escape: try.attempt.Name, note: notes[kind+": "+try.attempt.Name],
		allOn: closed(true, true) || both, webhookOff: closed(false, true) || both,
		policyOff: closed(true, false) || both, flagsOff: closed(true, true) || roles,
	}
	if r.note == "" {
		r.note = notes[kind]
	}
	switch nothing := at[admissionState{}]; nothing {
	case passed:
		if closed(true, false) {
			r.alone = append(r.alone, string(byWebhook))
		}
		if closed(false, true) {
			r.alone = append(r.alone, string(byPolicy))
		}
	case bySchema, byRoles:
		r.alone = append(r.alone, string(nothing))
	default:
		t.Errorf("%s: %s, with neither webhooks nor policies", describe(try), nothing)
	}
	r.alone = append(r.alone, aloneAtController(t, describe(try), controller, flags, roles)...)
	if len(r.alone) > 1 && r.allOn {
		r.note = ""
	}
	return r
}

// aloneAtController are the layers of a controller each of which closes an escape.
func aloneAtController(t *testing.T, name string, controller atController, flags, roles bool) []string {
	t.Helper()
	if controller == nil {
		return nil
	}
	if controller.of(false, false) {
		t.Errorf("%s is no escape even where nothing holds the controller", name)
	}
	var alone []string
	if flags {
		alone = append(alone, "flags")
	}
	if roles {
		alone = append(alone, string(byRoles))
	}
	return alone
}

// controllerRow is the row of an escape that is in a repository, where admission does
// not see it.
func controllerRow(t *testing.T, section, name string, controller atController) row {
	t.Helper()
	both, flags, roles := controller.of(true, true), controller.of(true, false), controller.of(false, true)
	r := row{section: section, escape: name, allOn: both, webhookOff: both, policyOff: both, flagsOff: roles, note: notes[section]}
	if note := notes[name]; note != "" {
		r.note = note
	}
	r.alone = aloneAtController(t, name, controller, flags, roles)
	if name == requestForBase {
		// Nothing enforces NetworkPolicies here; e2e/suites/pods tries it.
		r.allOn, r.webhookOff, r.policyOff, r.flagsOff = true, true, true, true
		r.alone = append(r.alone, "network")
	}
	return r
}
