package embedded

import (
	"maps"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestVariablesExpandAsInAPod(t *testing.T) {
	values := map[string]string{"NAME": "value", "EMPTY": ""}
	for text, want := range map[string]string{
		"plain":             "plain",
		"--flag=$(NAME)":    "--flag=value",
		"$(NAME)$(NAME)":    "valuevalue",
		"a$(EMPTY)b":        "ab",
		"$(UNKNOWN)":        "$(UNKNOWN)",
		"$$(NAME)":          "$(NAME)",
		"$(NAME":            "$(NAME",
		"cost: $5 and 100$": "cost: $5 and 100$",
	} {
		if got := expand(text, values); got != want {
			t.Errorf("%q expands to %q, want %q", text, got, want)
		}
	}
}

func TestEnvironmentComesFromValuesPodAndLimits(t *testing.T) {
	container := corev1.Container{
		Name: "manager",
		Env: []corev1.EnvVar{
			{Name: "SHARD", Value: "tenant-a"},
			{Name: "ACCOUNT", Value: "$(SHARD)-gitops"},
			{Name: "NAMESPACE", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.namespace"}}},
			{Name: "APP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['app']"}}},
			{Name: "MEMORY", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.memory"}}},
			{Name: "MEBIBYTES", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.memory", Divisor: resource.MustParse("1Mi")}}},
			{Name: "CORES", ValueFrom: &corev1.EnvVarSource{ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.cpu"}}},
		},
		Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{
			corev1.ResourceMemory: resource.MustParse("512Mi"), corev1.ResourceCPU: resource.MustParse("1500m"),
		}},
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "controllers", Labels: map[string]string{"app": "one"}}}
	_, values, err := containerEnvironment(container, pod)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"SHARD": "tenant-a", "ACCOUNT": "tenant-a-gitops", "NAMESPACE": "controllers", "APP": "one",
		"MEMORY": "536870912", "MEBIBYTES": "512", "CORES": "2",
	}
	if !maps.Equal(values, want) {
		t.Errorf("environment: %v, want %v", values, want)
	}
}

func TestEnvironmentThatCannotBeResolvedIsAnError(t *testing.T) {
	for name, source := range map[string]*corev1.EnvVarSource{
		"a Secret":         {SecretKeyRef: &corev1.SecretKeySelector{Key: "key"}},
		"an unknown field": {FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}},
		"a limit not set":  {ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.memory"}},
	} {
		container := corev1.Container{Env: []corev1.EnvVar{{Name: "NAME", ValueFrom: source}}}
		if _, _, err := containerEnvironment(container, &corev1.Pod{}); err == nil {
			t.Errorf("%s was resolved", name)
		}
	}
}

func TestFlagsAreReplacedHoweverTheyAreWritten(t *testing.T) {
	flags := map[string]string{"health-addr": "here"}
	for _, args := range [][]string{
		{"--keep", "value", "--health-addr=:9440"},
		{"--keep", "value", "--health-addr", ":9440"},
		{"-health-addr=:1", "--keep", "value", "--health-addr=:2"},
		{"--keep", "value"},
	} {
		if got, want := replaceFlags(args, flags), []string{"--keep", "value", "--health-addr=here"}; !slices.Equal(got, want) {
			t.Errorf("%v became %v, want %v", args, got, want)
		}
	}
}

func TestImagesStandForPrograms(t *testing.T) {
	for image, want := range map[string]string{
		"ghcr.io/fluxcd/kustomize-controller:v1.9.6":                  kustomizeController,
		"registry.example.org:5000/kustomize-controller":              kustomizeController,
		"registry.example.org/my-source-controller@sha256:0123456789": sourceController,
		"kustomize-controller.example.org/busybox:1":                  "",
		"": "",
	} {
		if got := programOf(image); got != want {
			t.Errorf("image %q stands for %q, want %q", image, got, want)
		}
	}
	if repository, tag := splitImage("registry.example.org:5000/a/b:crash@sha256:01"); repository != "registry.example.org:5000/a/b" || tag != TagCrash {
		t.Errorf("split into %q and %q", repository, tag)
	}
}
