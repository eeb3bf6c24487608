package credentials

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"filippo.io/age"
	"golang.org/x/crypto/ssh"
	corev1 "k8s.io/api/core/v1"
)

// Use is what a Secret is named for.
type Use string

// What a source may name a Secret for.
const (
	UseHTTPS      Use = "git over https"
	UseSSH        Use = "git over ssh"
	UseVerify     Use = "verification"
	UseRegistry   Use = "the registry"
	UseCertify    Use = "certificates"
	UseDecrypt    Use = "decryption"
	UseSubstitute Use = "substitution"
)

// Check says what is wrong with a Secret for a use, or nothing. It names keys,
// never values.
func Check(secret *corev1.Secret, use Use) error {
	fault := fault(secret, use)
	if fault == "" {
		return nil
	}
	return fmt.Errorf("the Secret %q cannot be used for %s: %s", secret.Name, use, fault)
}

func fault(secret *corev1.Secret, use Use) string {
	data := secret.Data
	has := func(key string) bool { return len(data[key]) > 0 }
	switch use {
	case UseHTTPS:
		return httpsFault(has)
	case UseSSH:
		if !has(identityKey) || !has(knownHostsKey) {
			return "it needs the keys identity (a private key) and known_hosts"
		}
		return identityFault(data)
	case UseVerify:
		if len(data) == 0 {
			return "it is empty: put each public key into a key of its own, for example author.asc"
		}
	case UseRegistry:
		if !has(corev1.DockerConfigJsonKey) {
			return "it needs the key .dockerconfigjson: create it with type kubernetes.io/dockerconfigjson"
		}
	case UseCertify:
		if !has("ca.crt") && (!has("tls.crt") || !has("tls.key")) {
			return "it needs the key ca.crt, or both tls.crt and tls.key"
		}
	case UseDecrypt:
		return decryptFault(data)
	case UseSubstitute:
	}
	return ""
}

func httpsFault(has func(string) bool) string {
	switch {
	case has("username") != has("password"):
		return "it needs both of the keys username and password"
	case has("username"), has("bearerToken"), has("ca.crt"), has("caFile"), has("githubAppID"):
		return ""
	default:
		return "it needs the keys username and password, or bearerToken, or ca.crt"
	}
}

func identityFault(data map[string][]byte) string {
	var err error
	if password, encrypted := data["password"]; encrypted {
		_, err = ssh.ParseRawPrivateKeyWithPassphrase(data[identityKey], password)
	} else {
		_, err = ssh.ParseRawPrivateKey(data[identityKey])
	}
	if err != nil {
		// The parser's own words are left out: they may quote the key.
		return "the key identity is no private key in PEM form, or its password is wrong"
	}
	return ""
}

// decryptionSuffixes end the keys that kustomize-controller decrypts with.
var decryptionSuffixes = []string{".agekey", ".asc"}

func decryptFault(data map[string][]byte) string {
	var found bool
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if slices.ContainsFunc(decryptionSuffixes, func(suffix string) bool { return strings.HasSuffix(key, suffix) }) || strings.HasPrefix(key, "sops.") {
			found = true
		}
		if strings.HasSuffix(key, ".agekey") {
			if _, err := age.ParseIdentities(bytes.NewReader(data[key])); err != nil {
				return fmt.Sprintf("the key %s holds no age identity", key)
			}
		}
	}
	if !found {
		return "it needs a key that ends in .agekey (an age identity) or .asc (a PGP key)"
	}
	return ""
}
