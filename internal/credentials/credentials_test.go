package credentials

import (
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cozystack/gitops-operator/internal/names"
)

func TestDeployKeyIsKeptAndFollowsKnownHosts(t *testing.T) {
	first, err := EnsureDeployKey(nil, "git.example.org ssh-ed25519 AAAA", "tenant-a/apps")
	if err != nil {
		t.Fatal(err)
	}
	if !first.Generated {
		t.Error("the first key does not count as generated")
	}
	second, err := EnsureDeployKey(first.Data, "git.example.org ssh-ed25519 BBBB", "tenant-a/apps")
	if err != nil {
		t.Fatal(err)
	}
	if second.Generated || second.Public != first.Public {
		t.Error("the key pair was replaced although it was good")
	}
	if got := string(second.Data["known_hosts"]); got != "git.example.org ssh-ed25519 BBBB\n" {
		t.Errorf("known_hosts is %q", got)
	}
	parsed, _, _, _, err := ssh.ParseAuthorizedKey([]byte(first.Public))
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.ParsePrivateKey(first.Data["identity"])
	if err != nil {
		t.Fatal(err)
	}
	if string(parsed.Marshal()) != string(signer.PublicKey().Marshal()) {
		t.Error("the public half does not belong to the private one")
	}
}

func TestDamagedDeployKeyIsReplaced(t *testing.T) {
	key, err := EnsureDeployKey(map[string][]byte{"identity": []byte("damaged")}, "h", "c")
	if err != nil || !key.Generated {
		t.Errorf("generated %v, error %v", key.Generated, err)
	}
}

func TestAgeKeyIsKept(t *testing.T) {
	first, err := EnsureAgeKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := EnsureAgeKey(first.Data)
	if err != nil {
		t.Fatal(err)
	}
	if second.Generated || second.Recipient != first.Recipient || !strings.HasPrefix(first.Recipient, "age1") {
		t.Errorf("recipients %q and %q", first.Recipient, second.Recipient)
	}
}

func TestDamagedAgeKeyIsNeverReplaced(t *testing.T) {
	const damaged = "AGE-SECRET-KEY-1DAMAGED"
	_, err := EnsureAgeKey(map[string][]byte{names.AgeSecretKey: []byte(damaged)})
	if err == nil {
		t.Fatal("no error")
	}
	if strings.Contains(err.Error(), damaged) {
		t.Errorf("the error shows the key: %v", err)
	}
}

func TestCheck(t *testing.T) {
	deploy, err := EnsureDeployKey(nil, "h", "c")
	if err != nil {
		t.Fatal(err)
	}
	age, err := EnsureAgeKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	const content = "c0ntent-that-must-not-show"
	for _, tc := range []struct {
		name string
		use  Use
		data map[string][]byte
		want string
	}{
		{"user and password", UseHTTPS, map[string][]byte{"username": []byte("git"), "password": []byte(content)}, ""},
		{"token", UseHTTPS, map[string][]byte{"bearerToken": []byte(content)}, ""},
		{"a CA alone", UseHTTPS, map[string][]byte{"ca.crt": []byte(content)}, ""},
		{"no password", UseHTTPS, map[string][]byte{"username": []byte(content)}, "username and password"},
		{"a misspelt key", UseHTTPS, map[string][]byte{"user": []byte(content)}, "bearerToken"},
		{"an ssh key", UseSSH, deploy.Data, ""},
		{"an ssh key without known_hosts", UseSSH, map[string][]byte{"identity": deploy.Data["identity"]}, "known_hosts"},
		{"no ssh key", UseSSH, map[string][]byte{"identity": []byte(content), "known_hosts": []byte("h")}, "PEM"},
		{"no verification key", UseVerify, nil, "empty"},
		{"a registry's", UseRegistry, map[string][]byte{".dockerconfigjson": []byte("{}")}, ""},
		{"a registry's in another form", UseRegistry, map[string][]byte{"password": []byte(content)}, ".dockerconfigjson"},
		{"a certificate without its key", UseCertify, map[string][]byte{"tls.crt": []byte(content)}, "tls.key"},
		{"an age identity", UseDecrypt, age.Data, ""},
		{"an age identity under another key", UseDecrypt, map[string][]byte{"age": []byte(content)}, ".agekey"},
		{"no age identity", UseDecrypt, map[string][]byte{"x.agekey": []byte(content)}, "x.agekey"},
		{"anything to substitute from", UseSubstitute, nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "acme.gitops"}, Data: tc.data}
			err := Check(secret, tc.use)
			if tc.want == "" {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), `"acme.gitops"`) {
				t.Fatalf("error %v, want one that names the Secret and %q", err, tc.want)
			}
			if strings.Contains(err.Error(), content) {
				t.Errorf("the error shows the content: %v", err)
			}
		})
	}
}
