package stamp

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/cozystack/gitops-operator/templates"
)

// What a generated Secret is for: values of GeneratedLabel.
const (
	PurposeDeployKey = "deploy-key"
	PurposeAgeKey    = "age-identity"
)

// GeneratedSecret is the Secret for a key that a tenant asked for.
func GeneratedSecret(tenant, name, purpose string, data map[string][]byte) (*corev1.Secret, error) {
	secret, err := templates.Decode[corev1.Secret]("tenant/generated-secret.yaml", templates.Variables{
		"tenant":  tenant,
		"secret":  name,
		"purpose": purpose,
	})
	if err != nil {
		return nil, err
	}
	secret.Data = data
	return secret, nil
}
