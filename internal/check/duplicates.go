package check

// duplicates finds objects that are there twice, in two versions of their kind, say: what is
// in one version twice is not built at all.
func duplicates(documents []document) []Finding {
	var findings []Finding
	first := map[string]document{}
	for _, one := range documents {
		id := located{apiVersion: one.object.GetAPIVersion(), kind: one.object.GetKind(), namespace: one.object.GetNamespace(), name: one.object.GetName()}.id()
		before, twice := first[id]
		if !twice {
			first[id] = one
			continue
		}
		findings = append(findings, one.at(nil, Error, RuleDuplicate, "it is at %s too, as %s: keep one of the two", before.at(nil, Error, RuleDuplicate, "").place(), before.object.GetAPIVersion()))
	}
	return findings
}
