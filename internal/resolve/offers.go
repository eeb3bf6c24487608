package resolve

// offer counts the live instances of a tenant that provide a class, and those that share it with
// the tenants below.
type offer struct{ all, shared int }

type offerKey struct{ tenant, class string }

// change lets instances offer what they do after something is done, in place of what they did
// before, and returns the tenants that use something else because of it.
func (x *Index) change(do func(), keys ...instanceKey) []string {
	before := map[offerKey]offer{}
	count := func(by int) {
		for _, key := range keys {
			instance := x.instances[key]
			if !instance.Live {
				continue
			}
			definition := x.definitions[instance.Kind]
			for _, class := range definition.Provides {
				of := offerKey{key.tenant, class}
				now := x.offers[of.tenant][of.class]
				if _, noted := before[of]; !noted {
					before[of] = now
				}
				now.all += by
				if definition.Shares {
					now.shared += by
				}
				x.setOffer(of, now)
			}
		}
	}
	count(-1)
	do()
	count(1)
	changed := changes{}
	for of, was := range before {
		is := x.offers[of.tenant][of.class]
		switch {
		case !x.tree.has(of.tenant):
		case (was.shared > 0) != (is.shared > 0):
			x.spread(of.tenant, of.class, changed)
		case (was.all > 0) != (is.all > 0):
			x.resolve(of.tenant, of.class, changed)
		}
	}
	return changed.sorted()
}

func (x *Index) setOffer(of offerKey, now offer) {
	if now == (offer{}) {
		delete(x.offers[of.tenant], of.class)
		if len(x.offers[of.tenant]) == 0 {
			delete(x.offers, of.tenant)
		}
		return
	}
	if x.offers[of.tenant] == nil {
		x.offers[of.tenant] = map[string]offer{}
	}
	x.offers[of.tenant][of.class] = now
}
