// Package credentials makes the keys that a tenant asks for, and says what is
// wrong with the Secrets that a tenant names. Nothing it returns as text holds
// any part of a Secret's data.
package credentials

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Keys of a Secret for git over SSH, as source-controller reads them.
const (
	identityKey       = "identity"
	identityPublicKey = "identity.pub"
	knownHostsKey     = "known_hosts"
)

// DeployKey is the data of a deploy key's Secret and its public half.
type DeployKey struct {
	// Data of the Secret.
	Data map[string][]byte
	// Public half, one line in authorized_keys form.
	Public string
	// Generated says that the pair is new.
	Generated bool
}

// EnsureDeployKey keeps the key pair in data, or makes a new one where there is
// none that can be used. The comment tells keys apart at the git host.
func EnsureDeployKey(data map[string][]byte, knownHosts, comment string) (DeployKey, error) {
	if signer, err := ssh.ParsePrivateKey(data[identityKey]); err == nil {
		return deployKey(data[identityKey], signer.PublicKey(), knownHosts, comment, false), nil
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return DeployKey{}, fmt.Errorf("cannot generate a deploy key: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(private, comment)
	if err != nil {
		return DeployKey{}, fmt.Errorf("cannot encode a deploy key: %w", err)
	}
	sshPublic, err := ssh.NewPublicKey(public)
	if err != nil {
		return DeployKey{}, fmt.Errorf("cannot encode the public half of a deploy key: %w", err)
	}
	return deployKey(pem.EncodeToMemory(block), sshPublic, knownHosts, comment, true), nil
}

func deployKey(identity []byte, public ssh.PublicKey, knownHosts, comment string, generated bool) DeployKey {
	line := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(public))) + " " + comment
	if !strings.HasSuffix(knownHosts, "\n") {
		knownHosts += "\n"
	}
	return DeployKey{
		Data: map[string][]byte{
			identityKey:       identity,
			identityPublicKey: []byte(line + "\n"),
			knownHostsKey:     []byte(knownHosts),
		},
		Public:    line,
		Generated: generated,
	}
}
