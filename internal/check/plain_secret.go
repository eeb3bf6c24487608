package check

import "slices"

// plainSecret warns of Secrets whose values everybody reads who reads the repository. SOPS
// leaves a key of its own at the top.
func plainSecret(d document) []Finding {
	if d.group() != "" || d.object.GetKind() != "Secret" {
		return nil
	}
	if _, encrypted := d.object.Object["sops"]; encrypted {
		return nil
	}
	has := func(key string) bool {
		values, _ := d.object.Object[key].(map[string]any)
		return len(values) > 0
	}
	if !slices.ContainsFunc([]string{"data", "stringData"}, has) {
		return nil
	}
	return []Finding{d.at(nil, Warning, RulePlainSecret, "everybody who reads the repository reads this Secret: encrypt it with sops")}
}
