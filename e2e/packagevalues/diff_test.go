package packagevalues_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/programs"
)

// reviewer is who compares: somebody who may list what docs/check.md says, and nothing else.
const reviewer = "reviewer"

// comparison is a repository's tree, and how it is compared.
type comparison struct {
	binary, tree, kubeconfig string
}

// newComparison makes an empty tree, and an account for who compares it.
func newComparison(t *testing.T) comparison {
	t.Helper()
	binary, err := programs.Own(t.Context(), "cmd/gitops-operator")
	if err != nil {
		t.Fatal(err)
	}
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: reviewer},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{"cozystack.io"}, Resources: []string{"packages", "packagesources", "packagevalues"}, Verbs: []string{"list"}}},
	}
	create(t, role)
	create(t, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: reviewer},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: reviewer},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: reviewer}},
	})
	config, err := cluster.UserConfig(reviewer)
	if err != nil {
		t.Fatal(err)
	}
	return comparison{binary: binary, tree: t.TempDir(), kubeconfig: kubeconfigOf(t, config)}
}

func kubeconfigOf(t *testing.T, config *rest.Config) string {
	t.Helper()
	const name = "compared"
	content := clientcmdapi.NewConfig()
	content.Clusters[name] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	content.AuthInfos[name] = &clientcmdapi.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}
	content.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	content.CurrentContext = name
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*content, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// write writes the tree's one file.
func (c comparison) write(t *testing.T, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(c.tree, "values.yaml"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// run runs the command.
func (c comparison) run(t *testing.T, flags ...string) (code int, out, diagnostics string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), c.binary, append(append([]string{"diff", "--root", c.tree}, flags...), c.tree)...)
	command.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig)
	var printed, told bytes.Buffer
	command.Stdout, command.Stderr = &printed, &told
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return command.ProcessState.ExitCode(), printed.String(), told.String()
}

// TestDiffWithACluster: what it says a tree would change is what becomes of it, and it writes
// nothing.
func TestDiffWithACluster(t *testing.T) {
	t.Parallel()
	operator.AwaitReady(t)
	const name = "compared"
	began := time.Now()
	newComponents(t, name, map[string]string{"web": "{a: 1, list: [1, 2]}", "db": "{size: 1}"})
	overrideComponents(t, name, "{web: {values: {b: 2}}}")
	awaitState(t, name, metav1.ConditionTrue, "Succeeded")
	c := newComparison(t)
	const head = "apiVersion: cozystack.io/v1alpha1\nkind: PackageValues\nmetadata: {name: compared}\nspec: "
	versions := func() (seen []string) {
		t.Helper()
		for _, o := range []string{"Package", "PackageSource", "PackageValues"} {
			seen = append(seen, read(t, object(t, o, name, "{}")).GetResourceVersion())
		}
		return append(seen, read(t, componentOf(name, "web")).GetResourceVersion(), read(t, componentOf(name, "db")).GetResourceVersion())
	}
	before := versions()

	c.write(t, head+"{components: {web: {values: {b: 2}}}}\n")
	for _, test := range []struct {
		flags []string
		out   string
	}{{nil, ""}, {[]string{"-o", "json"}, "[]\n"}} {
		if code, out, told := c.run(t, test.flags...); code != 0 || out != test.out || told != "" {
			t.Errorf("the same, %v: it ended with %d, %q and %q", test.flags, code, out, told)
		}
	}

	const changed = "{components: {web: {values: {b: 3, list: [3]}, unset: [a], listMerge: [{path: list, strategy: Append}]}}}"
	c.write(t, head+changed+"\n")
	const want = "cozy-compared/web (component web of compared)\n  ~ a: 1 -> null\n  ~ b: 2 -> 3\n  ~ list: [1,2] -> [1,2,3]\n"
	if code, out, told := c.run(t); code != 1 || out != want || told != "" {
		t.Errorf("changed: it ended with %d, %q and %q; want %q", code, out, told, want)
	}
	code, out, told := c.run(t, "--output=json")
	var effects []struct {
		Package, Component, Release string
		Before, After               map[string]any
		Changes                     []struct{ Path string }
	}
	if err := json.Unmarshal([]byte(out), &effects); err != nil || code != 1 || told != "" {
		t.Fatalf("as JSON: it ended with %d, %q and %q: %v", code, out, told, err)
	}
	if len(effects) != 1 || effects[0].Release != "cozy-compared/web" || effects[0].Package != name || effects[0].Component != "web" || len(effects[0].Changes) != 3 {
		t.Fatalf("the effects are %+v, want three changes of the one release", effects)
	}
	if now := text(t, effects[0].Before); now != text(t, fromYAML(t, "{a: 1, b: 2, list: [1, 2]}")) {
		t.Errorf("before: %s", now)
	}
	c.write(t, head+"{components: {wbe: {values: {b: 3}}}}\n")
	if code, out, told := c.run(t); code != 2 || out != "" || !strings.Contains(told, "has no component wbe") || !strings.Contains(told, "nothing is compared") {
		t.Errorf("wrong: it ended with %d, %q and %q", code, out, told)
	}

	if after := versions(); !reflect.DeepEqual(after, before) {
		t.Errorf("versions %v, and were %v", after, before)
	}
	wrote, err := cluster.Writes(began, func(w embedded.Write) bool { return w.User == reviewer })
	if err != nil || len(wrote) > 0 {
		t.Errorf("it wrote %v, %v", wrote, err)
	}

	// What was told comes to pass.
	overrideSpec(t, name, changed)
	awaitComponent(t, name, "web", text(t, effects[0].After))
	c.write(t, head+changed+"\n")
	if code, out, told := c.run(t); code != 0 || out != "" || told != "" {
		t.Errorf("applied: it ended with %d, %q and %q", code, out, told)
	}

	wantNotCompared(t, c)
}

// wantNotCompared: where the cluster cannot be read, it says so, and why.
func wantNotCompared(t *testing.T, c comparison) {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(harness.Loopback, "0"))
	if err != nil {
		t.Fatal(err)
	}
	nobody := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	stranger, err := cluster.UserConfig("stranger")
	if err != nil {
		t.Fatal(err)
	}
	for what, test := range map[string]struct {
		kubeconfig string
		says       string
	}{
		"nobody listens":   {kubeconfigOf(t, &rest.Config{Host: "https://" + nobody}), "cannot list Packages of the cluster at https://" + nobody + ": "},
		"it may not":       {kubeconfigOf(t, stranger), "cannot list Packages of the cluster at " + stranger.Host + ": packages.cozystack.io is forbidden"},
		"no such file":     {filepath.Join(c.tree, "absent"), "cannot find a cluster: set KUBECONFIG"},
		"another protocol": {kubeconfigOf(t, &rest.Config{Host: "http" + strings.TrimPrefix(stranger.Host, "https")}), "cannot list Packages of the cluster at http://"},
	} {
		c.kubeconfig = test.kubeconfig
		if code, out, told := c.run(t); code != 2 || out != "" || !strings.Contains(told, test.says) {
			t.Errorf("%s: it ended with %d, %q and %q; want 2 and %q", what, code, out, told, test.says)
		}
	}
}
