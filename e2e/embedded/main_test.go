package embedded

import (
	"context"
	"os"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cozystack/gitops-operator/e2e/manifests"
)

// shared is the cluster of all tests here that do not stop one.
var shared *Cluster

func TestMain(m *testing.M) {
	options := Options{Flux: true, Runner: true}
	os.Exit(Main(m, options, func(ctx context.Context, c *Cluster) error {
		shared = c
		return manifests.Apply(ctx, c.Client, namespace(ControllersNamespace, map[string]string{
			"pod-security.kubernetes.io/enforce": "restricted",
		}))
	}))
}

func namespace(name string, labels map[string]string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
}
