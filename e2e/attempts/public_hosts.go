package attempts

// publicHosts look like names of the public DNS, whatever they lead to: admission cannot
// tell.
var publicHosts = []struct{ name, host string }{
	{"a public name that resolves to an address inside", "inside.example.org"},
	{"a public name whose server redirects to an address inside", "redirects.example.org"},
	{"a namespace called by one plain word, as a pod's resolver completes it", "db.monitoring"},
}

// PublicHosts are hosts that nobody can see through, in a field that holds a URL.
func PublicHosts(path, scheme string) []Attempt {
	var attempts []Attempt
	for _, public := range publicHosts {
		attempts = append(attempts, Attempt{Name: public.name, Change: Field(path, scheme+"://"+public.host+"/acme/apps")})
	}
	return attempts
}

// PublicTenantGitOpsHosts are the same in the repository of a TenantGitOps.
func PublicTenantGitOpsHosts() []Attempt {
	var attempts []Attempt
	for _, public := range publicHosts {
		attempts = append(attempts, Attempt{Name: public.name, Change: InGit("url", "https://"+public.host+"/acme/apps")})
	}
	return attempts
}
