package stamp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/templates"
)

// ControllerContainer is the name of the controller's container.
const ControllerContainer = "manager"

// featureGatesFlag is the argument that extra gates are appended to.
const featureGatesFlag = "--feature-gates="

// controller adds the tenant's kustomize-controller.
func (b builder) controller(stack *Stack) error {
	deployment, err := b.deployment()
	if err != nil {
		return err
	}
	digest, err := b.in.Config.ControllerDigest()
	if err != nil {
		return err
	}
	deployment.Annotations = map[string]string{ControllerConfigAnnotation: digest}
	stack.Controller = append(stack.Controller, deployment)
	return nil
}

func (b builder) deployment() (*appsv1.Deployment, error) {
	const path = "tenant/controller-deployment.yaml"
	deployment, err := templates.Decode[appsv1.Deployment](path, b.variables())
	if err != nil {
		return nil, err
	}
	for i := range deployment.Spec.Template.Spec.Containers {
		container := &deployment.Spec.Template.Spec.Containers[i]
		if container.Name == ControllerContainer {
			b.in.Config.Controller.fill(container)
			return deployment, nil
		}
	}
	return nil, fmt.Errorf("template %s has no container %s", path, ControllerContainer)
}

func (c ControllerConfig) fill(container *corev1.Container) {
	container.Image = c.Image
	container.Resources = c.Resources
	for i, arg := range container.Args {
		if strings.HasPrefix(arg, featureGatesFlag) {
			container.Args[i] = strings.Join(append([]string{arg}, c.FeatureGates...), ",")
		}
	}
	container.Args = append(container.Args, c.ExtraArgs...)
	if limit, ok := c.Resources.Limits[corev1.ResourceMemory]; ok {
		// The runtime keeps its own total below this; stacks of C libraries and
		// page cache of /tmp are not in that total.
		container.Env = append(container.Env, corev1.EnvVar{
			Name:  "GOMEMLIMIT",
			Value: strconv.FormatInt(limit.Value()/10*9, 10),
		})
	}
	if limit, ok := c.Resources.Limits[corev1.ResourceCPU]; ok {
		container.Env = append(container.Env, corev1.EnvVar{
			Name:  "GOMAXPROCS",
			Value: strconv.FormatInt(max(1, limit.Value()), 10),
		})
	}
}

// ControllerDigest is equal for two configurations that stamp the same
// controller, whichever the tenant: a Deployment that carries another digest is
// outdated.
func (c Config) ControllerDigest() (string, error) {
	b := builder{in: Input{Config: c}, tenant: "tenant-of-the-digest"}
	b.in.Tenant = &gitopsv1.TenantGitOps{ObjectMeta: metav1.ObjectMeta{Namespace: b.tenant}}
	deployment, err := b.deployment()
	if err != nil {
		return "", err
	}
	return Digest(deployment)
}

// Digest is a short hash of a value's JSON.
func Digest(value any) (string, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return "", fmt.Errorf("cannot digest: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])[:16], nil
}
