package escapes_test

import "fmt"

const encryptedFields = `
  lastmodified: "2026-01-01T00:00:00Z"
  mac: ENC[AES256_GCM,data:AAAA,iv:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=,tag:AAAAAAAAAAAAAAAAAAAAAA==,type:str]
  encrypted_regex: ^password$
  version: 3.9.0
`

const encryptedApp = `apiVersion: apps.cozystack.io/v1alpha1
kind: Postgres
metadata:
  name: app
spec:
  password: ENC[AES256_GCM,data:AAAA,iv:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=,tag:AAAAAAAAAAAAAAAAAAAAAA==,type:str]
sops:
`

// vaultEncrypted is a file whose key is with a Vault at any address that its author likes:
// whoever decrypts it sends the token there.
func vaultEncrypted(address, key string) string {
	return encryptedApp + fmt.Sprintf(`  hc_vault:
  - vault_address: %s
    engine_path: transit
    key_name: %s
    created_at: "2026-01-01T00:00:00Z"
    enc: vault:v1:AAAA`, address, key) + encryptedFields
}

// kmsEncrypted is a file whose key is with a cloud: whoever decrypts it as an account
// makes a token of the account.
const kmsEncrypted = encryptedApp + `  kms:
  - arn: arn:aws:kms:nowhere-1:000000000000:key/00000000-0000-0000-0000-000000000000
    created_at: "2026-01-01T00:00:00Z"
    enc: AAAA
    aws_profile: ""` + encryptedFields
