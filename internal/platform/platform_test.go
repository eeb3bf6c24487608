package platform

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func deployment(name string, hostNetwork bool, containers ...corev1.Container) appsv1.Deployment {
	return appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}},
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{HostNetwork: hostNetwork, Containers: containers}},
		},
	}
}

func container(name, image string, args ...string) corev1.Container {
	return corev1.Container{Name: name, Image: image, Args: args}
}

func TestInspectFlux(t *testing.T) {
	const unsharded = "--watch-label-selector=!sharding.fluxcd.io/key"
	source := container("manager", "example.org/fluxcd/source-controller:v1", "--storage-addr=:9090")
	for _, tc := range []struct {
		name        string
		deployments []appsv1.Deployment
		wantPort    int32
		wantHost    bool
		wantErr     string
	}{
		{
			name: "two Deployments",
			deployments: []appsv1.Deployment{
				deployment("source-controller", false, source),
				deployment("kustomize-controller", false, container("manager", "kustomize-controller", unsharded)),
			},
			wantPort: 9090,
		},
		{
			name: "one Deployment on the host network, as stock Cozystack",
			deployments: []appsv1.Deployment{deployment("flux", true,
				container("source-controller", "x", "--storage-addr=:9790"),
				container("kustomize-controller", "x", unsharded))},
			wantPort: 9790, wantHost: true,
		},
		{
			name: "the selector as two arguments, among others",
			deployments: []appsv1.Deployment{
				deployment("source-controller", false, source),
				deployment("kustomize-controller", false, container("manager", "x", "--watch-label-selector", "a=b, !sharding.fluxcd.io/key")),
			},
			wantPort: 9090,
		},
		{
			name: "no selector",
			deployments: []appsv1.Deployment{
				deployment("source-controller", false, source),
				deployment("kustomize-controller", false, container("manager", "x")),
			},
			wantErr: "start it with --watch-label-selector=!sharding.fluxcd.io/key",
		},
		{
			name: "a selector that excludes one shard only",
			deployments: []appsv1.Deployment{
				deployment("source-controller", false, source),
				deployment("kustomize-controller", false, container("manager", "x", "--watch-label-selector=sharding.fluxcd.io/key!=a")),
			},
			wantErr: "takes every Kustomization",
		},
		{
			name: "a later selector that undoes the first",
			deployments: []appsv1.Deployment{
				deployment("source-controller", false, source),
				deployment("kustomize-controller", false, container("manager", "x", unsharded, "--watch-label-selector=")),
			},
			wantErr: "takes every Kustomization",
		},
		{
			name: "a second, unsharded controller beside a good one",
			deployments: []appsv1.Deployment{
				deployment("source-controller", false, source),
				deployment("kustomize-controller", false, container("manager", "x", unsharded)),
				deployment("old", false, container("manager", "example.org/fluxcd/kustomize-controller:v1@sha256:0")),
			},
			wantErr: "Deployment cozy-fluxcd/old",
		},
		{name: "no Flux", wantErr: "--flux-namespace"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := InspectFlux("cozy-fluxcd", tc.deployments)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Fatalf("error %v, want one with %q", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.ArtifactPort != tc.wantPort || got.HostNetwork != tc.wantHost {
				t.Errorf("got port %d and host network %v", got.ArtifactPort, got.HostNetwork)
			}
		})
	}
}

func TestUnknownFields(t *testing.T) {
	preserve := true
	crd := &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
			Name: "v1", Served: true,
			Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
				Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": {Properties: map[string]apiextensionsv1.JSONSchemaProps{
					"path":   {Type: "string"},
					"labels": {AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Schema: &apiextensionsv1.JSONSchemaProps{Type: "string"}}},
					"any":    {XPreserveUnknownFields: &preserve},
					"list": {Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &apiextensionsv1.JSONSchemaProps{
						Properties: map[string]apiextensionsv1.JSONSchemaProps{"known": {}}}}},
				}}},
			}},
		}},
	}}
	object := map[string]any{"spec": map[string]any{
		"path":           "./",
		"labels":         map[string]any{"a": "b"},
		"any":            map[string]any{"x": map[string]any{"y": 1}},
		"list":           []any{map[string]any{"known": 1, "new": 1}},
		"deletionPolicy": "Orphan",
	}}
	got, err := UnknownFields(crd, "v1", object)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"spec.deletionPolicy", "spec.list[].new"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if _, err := UnknownFields(crd, "v2", object); err == nil {
		t.Error("a version that is not served gave no error")
	}
}

func TestApplicationKinds(t *testing.T) {
	write := []string{"get", "create", "update", "patch", "delete"}
	rule := func(verbs []string, resources ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{"apps.cozystack.io"}, Resources: resources, Verbs: verbs}
	}
	definition := func(plural, edit string) unstructured.Unstructured {
		u := unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"application": map[string]any{"plural": plural}}}}
		if edit != "" {
			u.Object["spec"].(map[string]any)["protection"] = map[string]any{"edit": edit}
		}
		return u
	}
	definitions := []unstructured.Unstructured{definition("postgreses", ""), definition("monitorings", "adminOnly"), definition("gitopses", "")}

	for _, tc := range []struct {
		name  string
		role  *rbacv1.ClusterRole
		extra []string
		want  []string
	}{
		{"the role's kinds", &rbacv1.ClusterRole{Rules: []rbacv1.PolicyRule{rule(write, "redises", "kafkas"), rule([]string{"*"}, "postgreses")}}, nil, []string{"kafkas", "postgreses", "redises"}},
		{"read-only kinds, subresources, names and the gitops app left out", &rbacv1.ClusterRole{Rules: []rbacv1.PolicyRule{
			rule([]string{"get", "list"}, "tenants"), rule(write, "gitopses", "kafkas/status"),
			{APIGroups: []string{"apps.cozystack.io"}, Resources: []string{"buckets"}, ResourceNames: []string{"one"}, Verbs: write},
			{APIGroups: []string{"other.example.org"}, Resources: []string{"things"}, Verbs: write},
		}}, nil, nil},
		{"verbs spread over rules", &rbacv1.ClusterRole{Rules: []rbacv1.PolicyRule{rule([]string{"create", "update"}, "redises"), rule([]string{"delete"}, "redises")}}, nil, []string{"redises"}},
		{"a star names no kind", &rbacv1.ClusterRole{Rules: []rbacv1.PolicyRule{rule(write, "*")}}, nil, nil},
		{"no role: the definitions", nil, nil, []string{"postgreses"}},
		{"the admin widens, but not to gitops or a star", nil, []string{"tenants", "gitopses", "*"}, []string{"postgreses", "tenants"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := ApplicationKinds(tc.role, definitions, tc.extra); !slices.Equal(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}
