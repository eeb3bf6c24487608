package attempts

import "slices"

// addresses are addresses of hosts, in every spelling that some resolver takes.
var addresses = []string{
	"127.0.0.1", "127.0.0.2:8443", "127.1", "127.0.0.1.", "0.0.0.0", "0",
	"10.0.0.1", "172.16.0.1", "192.168.0.1", "100.64.0.1", "169.254.169.254", "8.8.8.8",
	"2130706433", "0x7f000001", "017700000001", "0x7f.0.0.1", "0x7f.1", "0177.0.0.1", "127.0.0.0x1", "127.0.0.01",
	"[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[fe80::1%25eth0]", "[fd00::1]", "[fd00:ec2::254]",
	"127%2e0%2e0%2e1",
}

// foldedAddresses are spelt with characters that some resolver folds into digits and dots.
var foldedAddresses = []string{"127。0。0。1", "①②⑦.⓪.⓪.①"}

// internalNames are names that only resolve inside, as they are or with what a pod's
// resolver appends (svc.cluster.local, cluster.local).
var internalNames = []string{
	"localhost", "localhost.", "localhost.localdomain", "app.localhost", "kubernetes", "flux",
	"kubernetes.default", "flux.cozy-fluxcd", "postgres.tenant-other", "kube-dns.kube-system", "db-0.db.tenant-other",
	"kubernetes.default.svc", "kubernetes.default.svc.", "KUBERNETES.DEFAULT.SVC", "kubernetes.default.svc:6443",
	"kubernetes.default.svc.cluster.local", "kubernetes.default.svc.cluster.local.", "kubernetes.default.svc.cozy.local",
	"a.svc.cluster.example.org", "10-0-0-1.default.pod", "10-0-0-1.default.pod.cluster.local",
	"metadata.google.internal", "instance-data.ec2.internal", "printer.lan", "nas.home", "git.corp", "1.0.0.127.in-addr.arpa",
	"git.example.org.", "git..example.org", "-git.example.org", "git_1.example.org", "git.example.1", "git.example.0x1",
}

// Hosts are the spellings of hosts inside, in a field that holds a URL.
func Hosts(path, scheme string) []Attempt {
	var attempts []Attempt
	for _, host := range slices.Concat(addresses, internalNames) {
		attempts = append(attempts, Attempt{Name: host, Change: Field(path, scheme+"://"+host+"/acme/apps"), Mend: "ask the platform's admin"})
	}
	for _, host := range foldedAddresses {
		attempts = append(attempts, Attempt{Name: host, Change: Field(path, scheme+"://"+host+"/acme/apps"), Mend: "must start with"})
	}
	for _, url := range []string{
		"http://git.example.org/acme/apps", "file:///etc", "git@git.example.org:acme/apps", "/etc/passwd",
		"HTTPS://git.example.org/acme/apps", "git://git.example.org/acme/apps",
	} {
		attempts = append(attempts, Attempt{Name: url, Change: Field(path, url), Mend: "must start with", BySchema: true})
	}
	return append(attempts, Attempt{
		Name: "credentials in the URL", Change: Field(path, scheme+"://user:word@git.example.org/acme/apps"), Mend: "must not hold credentials",
	}, Attempt{
		Name: "a user in the URL", Change: Field(path, scheme+"://git.example.org@127.0.0.1/acme/apps"), Mend: "must not hold credentials",
	})
}
