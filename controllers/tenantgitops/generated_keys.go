package tenantgitops

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/credentials"
	"github.com/cozystack/gitops-operator/internal/names"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

// ensureKeys makes the keys that sources ask for, and remembers their public
// halves for the status.
func (p *pass) ensureKeys(ctx context.Context) error {
	for _, source := range p.tenant.Spec.Sources {
		if source.Git != nil && source.Git.DeployKey == gitopsv1.GenerateKey {
			if err := p.ensureDeployKey(ctx, source); err != nil {
				return err
			}
		}
		if source.Decryption != nil && source.Decryption.AgeKey == gitopsv1.GenerateKey {
			if err := p.ensureAgeKey(ctx, source); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *pass) ensureDeployKey(ctx context.Context, source gitopsv1.Source) error {
	name := names.DeployKeySecret(source.Name)
	data, taken, err := p.generatedSecret(ctx, name)
	if err != nil {
		return err
	}
	if taken {
		p.addNameTaken(source.Name, name)
		return nil
	}
	key, err := credentials.EnsureDeployKey(data, source.Git.KnownHosts, p.tenant.Namespace+"/"+source.Name)
	if err != nil {
		return err
	}
	if err := p.applyGenerated(ctx, name, stamp.PurposeDeployKey, key.Data, key.Generated); err != nil {
		return err
	}
	p.deployKeys[source.Name] = key.Public
	return nil
}

func (p *pass) ensureAgeKey(ctx context.Context, source gitopsv1.Source) error {
	data, taken, err := p.generatedSecret(ctx, names.AgeSecret)
	if err != nil {
		return err
	}
	if taken {
		p.addNameTaken(source.Name, names.AgeSecret)
		return nil
	}
	key, err := credentials.EnsureAgeKey(data)
	if err != nil {
		p.addProblem(source.Name, gitopsv1.ReasonSecretInvalid, err.Error())
		return nil
	}
	if err := p.applyGenerated(ctx, names.AgeSecret, stamp.PurposeAgeKey, key.Data, key.Generated); err != nil {
		return err
	}
	p.ageRecipient = key.Recipient
	return nil
}

// generatedSecret reads what was generated before. Taken: a Secret of that name
// is there, and somebody else made it.
func (p *pass) generatedSecret(ctx context.Context, name string) (data map[string][]byte, taken bool, err error) {
	secret := &corev1.Secret{}
	key := client.ObjectKey{Namespace: p.tenant.Namespace, Name: name}
	if err := p.Client.Get(ctx, key, secret); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, false, nil
		}
		return nil, false, fmt.Errorf("cannot read Secret %s: %w", key, err)
	}
	return secret.Data, secret.Labels[stamp.ManagedByLabel] != stamp.ManagedBy, nil
}

func (p *pass) addNameTaken(source, secret string) {
	p.addProblem(source, gitopsv1.ReasonNameTaken, fmt.Sprintf("a key cannot be generated: the Secret %q exists and is not the operator's; name it in secretRef instead, or delete it", secret))
}

func (p *pass) applyGenerated(ctx context.Context, name, purpose string, data map[string][]byte, generated bool) error {
	secret, err := stamp.GeneratedSecret(p.tenant.Namespace, name, purpose, data)
	if err != nil {
		return err
	}
	if _, err := p.Applier.Apply(ctx, secret); err != nil {
		return err
	}
	if generated {
		p.Events.Eventf(p.tenant, nil, corev1.EventTypeNormal, gitopsv1.ReasonKeyGenerated, "Generate", "generated the %s in Secret %s", purpose, name)
	}
	return nil
}

// pruneDeployKeys deletes the deploy keys that no source asks for. The age identity is
// never deleted: files in the repository are encrypted for it.
func (p *pass) pruneDeployKeys(ctx context.Context) error {
	wanted := map[string]bool{}
	for _, source := range p.tenant.Spec.Sources {
		if source.Git != nil && source.Git.DeployKey == gitopsv1.GenerateKey {
			wanted[names.DeployKeySecret(source.Name)] = true
		}
	}
	secrets := &metav1.PartialObjectMetadataList{}
	secrets.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("SecretList"))
	err := p.Uncached.List(ctx, secrets, client.InNamespace(p.tenant.Namespace), client.MatchingLabels{
		stamp.ManagedByLabel: stamp.ManagedBy, stamp.GeneratedLabel: stamp.PurposeDeployKey,
	})
	if err != nil {
		return fmt.Errorf("cannot list the deploy keys of %s: %w", p.tenant.Namespace, err)
	}
	for i := range secrets.Items {
		if !wanted[secrets.Items[i].Name] {
			if err := p.Applier.Delete(ctx, &secrets.Items[i]); err != nil {
				return err
			}
		}
	}
	return nil
}
