//go:build kind

package pods_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/fixtures"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/e2e/kind"
	"github.com/cozystack/gitops-operator/e2e/suites"
)

// TestControllerPodIsConfined looks at the pod as the API server has admitted it.
func TestControllerPodIsConfined(t *testing.T) {
	t.Parallel()
	const tenant = "tenant-confined"
	_, commit := stage.Enable(t, tenant, map[string]string{"db.yaml": fixtures.Postgres("db", "1Gi")}, nil)
	harness.AwaitApplied(t, stage.Client, tenant, commit)
	// Applied may come before the kubelet has probed the pod.
	status := harness.AwaitCondition(t, stage.Client, tenant, metav1.ConditionTrue, "Succeeded").Status.Controller
	image, err := kind.ProgramImage("kustomize-controller")
	if err != nil {
		t.Fatal(err)
	}
	if status == nil || !strings.HasPrefix(status.Deployment, suites.ControllersNamespace+"/kustomize-controller-") || status.Image != image || !status.Ready || status.Restarts != 0 || status.LastTermination != "" {
		t.Errorf("the status of the controller is %+v", status)
	}

	namespace := &corev1.Namespace{}
	if err := stage.Client.Get(t.Context(), client.ObjectKey{Name: suites.ControllersNamespace}, namespace); err != nil {
		t.Fatal(err)
	}
	// This being so, that the pod runs says the rest: not privileged, no capabilities.
	if level := namespace.Labels["pod-security.kubernetes.io/enforce"]; level != "restricted" {
		t.Errorf("the controllers' namespace enforces pod security %q", level)
	}
	pod := stage.ControllerPod(t, tenant)
	if pod.Spec.ServiceAccountName != pod.Labels["app.kubernetes.io/instance"] || pod.Spec.HostNetwork {
		t.Errorf("the pod has the account %s, host network %t", pod.Spec.ServiceAccountName, pod.Spec.HostNetwork)
	}
	if len(pod.Spec.Containers) != 1 || len(pod.Spec.InitContainers) != 0 {
		t.Fatalf("the pod has the containers %+v", pod.Spec.Containers)
	}
	container := pod.Spec.Containers[0]
	security := container.SecurityContext
	if security == nil || security.ReadOnlyRootFilesystem == nil || !*security.ReadOnlyRootFilesystem || security.RunAsNonRoot == nil || !*security.RunAsNonRoot {
		t.Errorf("the container's security context is %+v", security)
	}
	limits := container.Resources.Limits
	if want := resource.MustParse(suites.ControllerMemory); !limits.Memory().Equal(want) || limits.Cpu().IsZero() {
		t.Errorf("the container's limits are %v", limits)
	}
	// Nine tenths of the limit.
	if !slices.Contains(container.Env, corev1.EnvVar{Name: "GOMEMLIMIT", Value: "241591905"}) {
		t.Errorf("the container's environment is %+v", container.Env)
	}
	bounded := slices.ContainsFunc(pod.Spec.Volumes, func(volume corev1.Volume) bool {
		return volume.Name == "tmp" && volume.EmptyDir != nil && volume.EmptyDir.SizeLimit != nil && !volume.EmptyDir.SizeLimit.IsZero()
	})
	if !bounded {
		t.Errorf("no bounded /tmp among the volumes %+v", pod.Spec.Volumes)
	}
}
