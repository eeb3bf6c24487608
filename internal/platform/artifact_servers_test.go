package platform_test

import (
	"reflect"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cozystack/gitops-operator/internal/platform"
)

func fluxDeployment(name string, hostNetwork bool, containers ...corev1.Container) appsv1.Deployment {
	labels := map[string]string{"app": name}
	return appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: labels},
			Spec:       corev1.PodSpec{HostNetwork: hostNetwork, Containers: containers},
		}},
	}
}

// TestArtifactServersAreFound has the layouts that Flux comes in.
func TestArtifactServersAreFound(t *testing.T) {
	upstream := []appsv1.Deployment{
		fluxDeployment("source-controller", false, corev1.Container{Name: "manager", Image: "ghcr.io/fluxcd/source-controller:v1.9.6"}),
		fluxDeployment("source-watcher", false, corev1.Container{Name: "manager", Image: "ghcr.io/fluxcd/source-watcher:v2.1.0", Args: []string{"--storage-addr=:9191"}}),
		fluxDeployment("kustomize-controller", false, corev1.Container{Name: "manager"}),
	}
	stock := []appsv1.Deployment{fluxDeployment("flux", true,
		corev1.Container{Name: "source-controller", Args: []string{"--storage-addr=:9790"}},
		corev1.Container{Name: "source-watcher", Args: []string{"--storage-addr=:9691"}})}
	for name, tc := range map[string]struct {
		deployments []appsv1.Deployment
		want        []platform.ArtifactServer
	}{
		"a Deployment for each": {upstream, []platform.ArtifactServer{
			{Program: "source-controller", Deployment: "source-controller", PodLabels: map[string]string{"app": "source-controller"}, TemplateLabels: map[string]string{"app": "source-controller"}, Port: 9090},
			{Program: "source-watcher", Deployment: "source-watcher", PodLabels: map[string]string{"app": "source-watcher"}, TemplateLabels: map[string]string{"app": "source-watcher"}, Port: 9191},
		}},
		"one pod on the host network": {stock, []platform.ArtifactServer{
			{Program: "source-controller", Deployment: "flux", PodLabels: map[string]string{"app": "flux"}, TemplateLabels: map[string]string{"app": "flux"}, Port: 9790, HostNetwork: true},
			{Program: "source-watcher", Deployment: "flux", PodLabels: map[string]string{"app": "flux"}, TemplateLabels: map[string]string{"app": "flux"}, Port: 9691, HostNetwork: true},
		}},
		"without source-watcher": {upstream[:1], []platform.ArtifactServer{
			{Program: "source-controller", Deployment: "source-controller", PodLabels: map[string]string{"app": "source-controller"}, TemplateLabels: map[string]string{"app": "source-controller"}, Port: 9090},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := platform.ArtifactServers("cozy-fluxcd", tc.deployments)
			if err != nil || !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got %+v, %v, want %+v", got, err, tc.want)
			}
		})
	}
}

// TestWhatKeepsArtifactServersFromBeingSealedIsSaid has a Flux that no policy can be
// made for.
func TestWhatKeepsArtifactServersFromBeingSealedIsSaid(t *testing.T) {
	unlabelled := fluxDeployment("source-controller", false, corev1.Container{Name: "manager"})
	unlabelled.Spec.Template.Labels = nil
	badPort := fluxDeployment("source-controller", false, corev1.Container{Name: "manager", Args: []string{"--storage-addr=:http"}})
	for mend, deployments := range map[string][]appsv1.Deployment{
		"install Flux there":     nil,
		"label its pod template": {unlabelled},
		"write it as :9090":      {badPort},
	} {
		if _, err := platform.ArtifactServers("cozy-fluxcd", deployments); err == nil || !strings.Contains(err.Error(), mend) {
			t.Errorf("the error is %v, want one with %q", err, mend)
		}
	}
}
