package tenantgitops

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/credentials"
	"github.com/cozystack/gitops-operator/internal/names"
	"github.com/cozystack/gitops-operator/internal/stamp"
)

// reference is a Secret or ConfigMap that a source names.
type reference struct {
	name      string
	configMap bool
	optional  bool
	use       credentials.Use
	// applied: the tenant's controller reads it, not source-controller.
	applied bool
	// generated: the operator made it.
	generated bool
}

// notFoundReason is the reason of a source whose reference leads nowhere.
func (r reference) notFoundReason() string {
	if r.configMap {
		return gitopsv1.ReasonConfigMapNotFound
	}
	return gitopsv1.ReasonSecretNotFound
}

// references lists what a source names, in a fixed order.
func references(source gitopsv1.Source) []reference {
	var refs []reference
	if git := source.Git; git != nil {
		use := credentials.UseHTTPS
		if strings.HasPrefix(git.URL, "ssh://") {
			use = credentials.UseSSH
		}
		switch {
		case git.DeployKey == gitopsv1.GenerateKey:
			refs = append(refs, reference{name: names.DeployKeySecret(source.Name), use: use, generated: true})
		case git.SecretRef != nil:
			refs = append(refs, reference{name: git.SecretRef.Name, use: use})
		}
		if git.Verify != nil {
			refs = append(refs, reference{name: git.Verify.SecretRef.Name, use: credentials.UseVerify})
		}
	}
	if oci := source.OCI; oci != nil {
		if oci.SecretRef != nil {
			refs = append(refs, reference{name: oci.SecretRef.Name, use: credentials.UseRegistry})
		}
		if oci.CertSecretRef != nil {
			refs = append(refs, reference{name: oci.CertSecretRef.Name, use: credentials.UseCertify})
		}
	}
	if decryption := source.Decryption; decryption != nil {
		switch {
		case decryption.AgeKey == gitopsv1.GenerateKey:
			refs = append(refs, reference{name: names.AgeSecret, use: credentials.UseDecrypt, applied: true, generated: true})
		case decryption.SecretRef != nil:
			refs = append(refs, reference{name: decryption.SecretRef.Name, use: credentials.UseDecrypt, applied: true})
		}
	}
	if source.PostBuild != nil {
		for _, from := range source.PostBuild.SubstituteFrom {
			refs = append(refs, reference{
				name:      from.Name,
				configMap: from.Kind == "ConfigMap",
				optional:  from.Optional,
				use:       credentials.UseSubstitute,
				applied:   true,
			})
		}
	}
	return refs
}

// checkNamed looks at every Secret and ConfigMap that sources name: what is
// wrong becomes the source's problem (Flux is left to go on: it may know
// better), and their versions become the digests by which Flux is asked when
// one of them changes. It returns the names that the tenant's controller reads.
func (p *pass) checkNamed(ctx context.Context) (stamp.NamedObjects, map[string]stamp.Requested, error) {
	var named stamp.NamedObjects
	requested := map[string]stamp.Requested{}
	watched := map[watchedObject]bool{}
	for _, source := range p.tenant.Spec.Sources {
		fetchedWith, appliedWith := []string{}, []string{}
		for _, ref := range references(source) {
			if len(validation.IsDNS1123Subdomain(ref.name)) > 0 {
				// No request can be made with such a name: it must not stop the other sources.
				p.addProblem(source.Name, ref.notFoundReason(), fmt.Sprintf("%q, named for %s, cannot be the name of a Secret or ConfigMap: correct it", ref.name, ref.use))
				continue
			}
			watched[watchedObject{configMap: ref.configMap, name: ref.name}] = true
			if ref.applied {
				if ref.configMap {
					named.ConfigMaps = append(named.ConfigMaps, ref.name)
				} else {
					named.Secrets = append(named.Secrets, ref.name)
				}
			}
			version, err := p.checkReference(ctx, source.Name, ref)
			if err != nil {
				return named, nil, err
			}
			if ref.applied {
				appliedWith = append(appliedWith, version)
			} else {
				fetchedWith = append(fetchedWith, version)
			}
		}
		if built := p.live.builtWith(source); built != "" {
			appliedWith = append(appliedWith, built)
		}
		var digests stamp.Requested
		var err error
		if digests.Source, err = p.requestDigest(fetchedWith); err != nil {
			return named, nil, err
		}
		if digests.Kustomization, err = p.requestDigest(appliedWith); err != nil {
			return named, nil, err
		}
		requested[source.Name] = digests
	}
	p.named.Watch(p.tenant.Namespace, watched)
	return named, requested, nil
}

func (p *pass) requestDigest(versions []string) (string, error) {
	if len(versions) == 0 && p.requested() == "" {
		return "", nil
	}
	return stamp.Digest(append([]string{p.requested()}, versions...))
}

// checkReference returns a text that changes when the object does.
func (p *pass) checkReference(ctx context.Context, source string, ref reference) (version string, err error) {
	key := client.ObjectKey{Namespace: p.tenant.Namespace, Name: ref.name}
	if ref.configMap {
		configMap := &corev1.ConfigMap{}
		switch err := p.Client.Get(ctx, key, configMap); {
		case apierrors.IsNotFound(err):
			if !ref.optional {
				p.addProblem(source, gitopsv1.ReasonConfigMapNotFound, fmt.Sprintf("the ConfigMap %q, named for %s, does not exist in namespace %s: create it, or correct the name", ref.name, ref.use, key.Namespace))
			}
			return ref.name + " absent", nil
		case err != nil:
			return "", fmt.Errorf("cannot read ConfigMap %s: %w", key, err)
		}
		return ref.name + " " + configMap.ResourceVersion, nil
	}
	secret := &corev1.Secret{}
	switch err := p.Client.Get(ctx, key, secret); {
	case apierrors.IsNotFound(err):
		if !ref.optional {
			p.addProblem(source, gitopsv1.ReasonSecretNotFound, fmt.Sprintf("the Secret %q, named for %s, does not exist in namespace %s: create it, or correct the name", ref.name, ref.use, key.Namespace))
		}
		return ref.name + " absent", nil
	case err != nil:
		return "", fmt.Errorf("cannot read Secret %s: %w", key, err)
	}
	if fault := credentials.Check(secret, ref.use); fault != nil {
		p.addProblem(source, gitopsv1.ReasonSecretInvalid, fault.Error())
	}
	return ref.name + " " + secret.ResourceVersion, nil
}

// addProblem notes a source's problem; the first one stands, so that a tenant is
// led from one to the next.
func (p *pass) addProblem(source, reason, message string) {
	if _, has := p.problems[source]; !has {
		p.problems[source] = problem{reason: reason, message: message}
	}
}
