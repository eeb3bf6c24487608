package stamp

import (
	"bytes"
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	kustomizev1 "github.com/fluxcd/kustomize-controller/api/v1"
	"github.com/fluxcd/pkg/apis/meta"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
)

var update = flag.Bool("update", false, "write golden files anew")

func minutes(n int) metav1.Duration {
	return metav1.Duration{Duration: time.Duration(n) * time.Minute}
}

// fullInput is a tenant that uses much of what there is.
func fullInput() Input {
	five := minutes(5)
	return Input{
		Tenant: &gitopsv1.TenantGitOps{ObjectMeta: metav1.ObjectMeta{Namespace: "tenant-acme", Name: "gitops"}},
		Config: Config{
			ControllersNamespace: "cozy-gitops-tenants",
			OperatorNamespace:    "cozy-gitops",
			OperatorAccount:      "gitops-operator",
			Controller: ControllerConfig{
				Image: "fluxcd/kustomize-controller:v1.9.6",
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("20m")},
					Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("500M"), corev1.ResourceCPU: resource.MustParse("1500m")},
				},
				ExtraArgs:    []string{"--concurrent=2"},
				FeatureGates: []string{"StrictPostBuildSubstitutions=true"},
			},
		},
		Network: Network{
			APIServer:    []netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:6443"), netip.MustParseAddrPort("[2001:db8::1]:6443")},
			DNSNamespace: "kube-system",
			DNSPodLabels: map[string]string{"k8s-app": "kube-dns"},
			Artifacts:    ArtifactEndpoint{Namespace: "cozy-fluxcd", PodLabels: map[string]string{"app": "source-controller"}, Port: 9090},
		},
		Kinds:   []string{"redises", "postgreses", "redises"},
		Targets: []string{"tenant-acme-child"},

		HealthKinds: []string{"Redis", "Postgres", "Redis"},
		Named:       NamedObjects{Secrets: []string{"keys.gitops"}, ConfigMaps: []string{"vars"}},
		Stamped: []gitopsv1.Source{
			{
				Name: "apps", Path: "./production", Interval: minutes(10), RetryInterval: &five, Timeout: &five,
				Git:        &gitopsv1.GitSource{URL: "ssh://git@git.example.org/acme/apps", Interval: minutes(1), DeployKey: gitopsv1.GenerateKey, KnownHosts: "x"},
				Decryption: &gitopsv1.Decryption{SecretRef: &meta.LocalObjectReference{Name: "keys.gitops"}},
				PostBuild:  &gitopsv1.PostBuild{SubstituteFrom: []kustomizev1.SubstituteReference{{Kind: "ConfigMap", Name: "vars"}}},
			},
			{
				Name: "images", TargetNamespace: "tenant-acme-child", Interval: minutes(10), DependsOn: []string{"apps"},
				OCI: &gitopsv1.OCISource{URL: "oci://registry.example.org/acme/apps", Interval: minutes(1)}, DeletionPolicy: "Delete",
			},
		},
		Requested: map[string]Requested{"apps": {Source: "d1", Kustomization: "d2"}},
	}
}

func render(t *testing.T, in Input) []byte {
	t.Helper()
	bindings, err := SelfBindings(in)
	if err != nil {
		t.Fatal(err)
	}
	stack, err := Tenant(in)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, phase := range [][]client.Object{bindings, stack.Accounts, stack.Controller, stack.Sources, stack.Kustomizations} {
		for _, obj := range phase {
			text, err := yaml.Marshal(obj)
			if err != nil {
				t.Fatal(err)
			}
			out.WriteString("---\n")
			out.Write(text)
		}
	}
	return out.Bytes()
}

// TestStackIsWhatTheGoldenFilesShow shows a reader of a change what it does to
// the cluster.
func TestStackIsWhatTheGoldenFilesShow(t *testing.T) {
	hostNetwork := fullInput()
	hostNetwork.Network.Artifacts = ArtifactEndpoint{Port: 9790, HostNetwork: true, NodeAddresses: []netip.Addr{netip.MustParseAddr("192.0.2.10"), netip.MustParseAddr("192.0.2.11")}}
	cilium := hostNetwork
	cilium.Network.Cilium = true
	ciliumPods := fullInput()
	ciliumPods.Network.Cilium = true
	for name, in := range map[string]Input{"pods": fullInput(), "hostnetwork": hostNetwork, "cilium-hostnetwork": cilium, "cilium-pods": ciliumPods} {
		t.Run(name, func(t *testing.T) {
			got := render(t, in)
			path := filepath.Join("testdata", name+".golden.yaml")
			if *update {
				if err := os.MkdirAll("testdata", 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, got, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("the stack differs from %s; look at the change with -update and git diff", path)
			}
			if again := render(t, in); !bytes.Equal(got, again) {
				t.Error("two runs over one input differ")
			}
		})
	}
}

// TestInputIsNotChanged: a builder that changed its input would change a cache.
func TestInputIsNotChanged(t *testing.T) {
	in, same := fullInput(), fullInput()
	render(t, in)
	if !reflect.DeepEqual(in, same) {
		t.Error("the input has been changed")
	}
}

// TestArtifactRuleNeverAllowsEverybody: a rule without peers is a rule for all.
func TestArtifactRuleNeverAllowsEverybody(t *testing.T) {
	n := fullInput().Network
	n.Artifacts = ArtifactEndpoint{Port: 9790, HostNetwork: true}
	n.APIServer = nil
	for _, rule := range n.egress() {
		if len(rule.To) == 0 {
			t.Errorf("a rule without peers: %+v", rule)
		}
	}
}

// TestNoNamesNoRule: a rule for Secrets without names would be one for all Secrets.
func TestNoNamesNoRule(t *testing.T) {
	in := fullInput()
	in.Named, in.Kinds, in.HealthKinds = NamedObjects{}, nil, nil
	text := string(render(t, in))
	if strings.Contains(text, "- secrets") || strings.Contains(text, "apps.cozystack.io") {
		t.Error("a Role has a rule for Secrets or applications although none is named")
	}
}

func TestControllerDigestFollowsTheConfigurationOnly(t *testing.T) {
	digest := func(change func(*Config)) string {
		config := fullInput().Config
		change(&config)
		got, err := config.ControllerDigest()
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	same := digest(func(*Config) {})
	if again := digest(func(*Config) {}); again != same {
		t.Error("equal configurations have two digests")
	}
	if digest(func(c *Config) { c.Controller.Image += "x" }) == same {
		t.Error("another image has the same digest")
	}
	if digest(func(c *Config) { c.Controller.ExtraArgs = nil }) == same {
		t.Error("other arguments have the same digest")
	}
}

func TestValidateRefusesWhatWouldJoinTenants(t *testing.T) {
	if err := fullInput().Config.Validate(); err != nil {
		t.Fatalf("a good configuration is refused: %v", err)
	}
	for name, tc := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"a selector":                {func(c *Config) { c.Controller.ExtraArgs = []string{"--watch-label-selector="} }, "sets --watch-label-selector itself"},
		"a kept flag with one dash": {func(c *Config) { c.Controller.ExtraArgs = []string{"-no-remote-bases=false"} }, "--flag=value"},
		"a kept flag in two parts":  {func(c *Config) { c.Controller.ExtraArgs = []string{"--no-cross-namespace-refs", "false"} }, "sets --no-cross-namespace-refs itself"},
		"another default account":   {func(c *Config) { c.Controller.ExtraArgs = []string{"--default-service-account=x"} }, "not allowed"},
		"config watchers":           {func(c *Config) { c.Controller.FeatureGates = []string{"DisableConfigWatchers=false"} }, "DisableConfigWatchers"},
		"two gates in one":          {func(c *Config) { c.Controller.FeatureGates = []string{"A=true,DisableConfigWatchers=false"} }, "DisableConfigWatchers"},
		"no memory limit":           {func(c *Config) { c.Controller.Resources.Limits = nil }, "memory limit"},
		"a request above its limit": {func(c *Config) {
			c.Controller.Resources.Requests = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Gi")}
		}, "must not exceed the limit"},
		"a limit of nothing":         {func(c *Config) { c.Controller.Resources.Limits[corev1.ResourceMemory] = resource.MustParse("0") }, "more than nothing"},
		"one key for all":            {func(c *Config) { c.Controller.ExtraArgs = []string{"--sops-age-secret=x"} }, "not allowed"},
		"no image":                   {func(c *Config) { c.Controller.Image = "" }, "image must be set"},
		"the operator's namespace":   {func(c *Config) { c.ControllersNamespace = c.OperatorNamespace }, "must not be the operator's own"},
		"an argument without dashes": {func(c *Config) { c.Controller.ExtraArgs = []string{"concurrent=1"} }, "--flag=value"},
	} {
		t.Run(name, func(t *testing.T) {
			config := fullInput().Config
			tc.change(&config)
			if err := config.Validate(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}
