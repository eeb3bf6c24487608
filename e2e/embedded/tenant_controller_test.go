package embedded

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/rand"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/manifests"
)

// tenantController is a controller as the operator stamps it: TENANT stands for the
// tenant's namespace, IMAGE for the image.
const tenantController = `
apiVersion: v1
kind: Namespace
metadata: {name: TENANT}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: TENANT-gitops, namespace: TENANT}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: TENANT-gitops, namespace: TENANT}
rules:
- {apiGroups: [""], resources: [configmaps], verbs: [get, list, watch, create, patch, update, delete]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: TENANT-gitops, namespace: TENANT}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: TENANT-gitops}
subjects: [{kind: ServiceAccount, name: TENANT-gitops, namespace: TENANT}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: kustomize-controller, namespace: TENANT}
rules:
- apiGroups: [kustomize.toolkit.fluxcd.io]
  resources: [kustomizations, kustomizations/status, kustomizations/finalizers]
  verbs: [get, list, watch, update, patch]
- apiGroups: [source.toolkit.fluxcd.io]
  resources: [gitrepositories, ocirepositories, buckets, externalartifacts]
  verbs: [get, list, watch]
- {apiGroups: [""], resources: [events], verbs: [create, patch]}
- {apiGroups: [""], resources: [serviceaccounts], resourceNames: [TENANT-gitops], verbs: [get, impersonate]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: kustomize-controller, namespace: TENANT}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: kustomize-controller}
subjects: [{kind: ServiceAccount, name: kustomize-controller-TENANT, namespace: cozy-gitops-tenants}]
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: kustomize-controller-TENANT, namespace: cozy-gitops-tenants}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: kustomize-controller-TENANT, namespace: cozy-gitops-tenants}
spec:
  strategy: {type: Recreate}
  selector: {matchLabels: {app: kustomize-controller-TENANT}}
  template:
    metadata:
      labels: {app: kustomize-controller-TENANT}
    spec:
      serviceAccountName: kustomize-controller-TENANT
      securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
      containers:
      - name: manager
        image: IMAGE
        securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
        terminationMessagePolicy: FallbackToLogsOnError
        args:
        - --watch-all-namespaces=false
        - --watch-label-selector=sharding.fluxcd.io/key=$(RUNTIME_NAMESPACE)
        - --no-cross-namespace-refs=true
        - --no-remote-bases=true
        - --default-service-account=$(RUNTIME_NAMESPACE)-gitops
        - --feature-gates=DisableConfigWatchers=true
        - --enable-leader-election
        - --health-addr
        - :9440
        env:
        - {name: RUNTIME_NAMESPACE, value: TENANT}
        - name: POD_NAMESPACE
          valueFrom: {fieldRef: {fieldPath: metadata.namespace}}
        - name: GOMEMLIMIT
          valueFrom: {resourceFieldRef: {resource: limits.memory}}
        resources: {limits: {memory: 512Mi}}
        ports: [{name: healthz, containerPort: 9440}]
        readinessProbe: {httpGet: {path: /readyz, port: healthz}}
`

const soundImage = "registry.example.org/fluxcd/kustomize-controller:v1.9.6"

// runTenantController lays in the controller of a tenant and returns its Deployment's key.
func runTenantController(t *testing.T, tenant, image string) client.ObjectKey {
	t.Helper()
	objects, err := manifests.Decode([]byte(strings.NewReplacer("TENANT", tenant, "IMAGE", image).Replace(tenantController)))
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if err := manifests.Apply(t.Context(), shared.Client, object); err != nil {
			t.Fatal(err)
		}
	}
	key := client.ObjectKey{Namespace: ControllersNamespace, Name: "kustomize-controller-" + tenant}
	t.Cleanup(func() {
		deployment := &appsv1.Deployment{}
		deployment.Namespace, deployment.Name = key.Namespace, key.Name
		// The test's own context has ended by now.
		if err := client.IgnoreNotFound(shared.Client.Delete(context.Background(), deployment)); err != nil {
			t.Error(err)
		}
	})
	return key
}

// unique makes a name that no earlier run of the same test used.
func unique(prefix string) string { return prefix + "-" + rand.String(5) }

// await polls until check is nil and fails the test with its last error otherwise.
func await(t *testing.T, check func() error) {
	t.Helper()
	const timeout = 30 * time.Second
	deadline := time.Now().Add(timeout)
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after %s: %v", timeout, err)
		}
		<-ticker.C
	}
}

// deploymentReady checks that the status tells of a ready replica of the present spec.
func deploymentReady(t *testing.T, key client.ObjectKey) func() error {
	return func() error {
		deployment := &appsv1.Deployment{}
		if err := shared.Client.Get(t.Context(), key, deployment); err != nil {
			return err
		}
		if s := deployment.Status; s.ObservedGeneration != deployment.Generation || s.ReadyReplicas != 1 || s.AvailableReplicas != 1 || s.UpdatedReplicas != 1 {
			return fmt.Errorf("deployment is not ready: %+v; log: %s", s, shared.Logs(key.Name, 5))
		}
		return nil
	}
}

// podOf returns the only Pod of a Deployment.
func podOf(t *testing.T, key client.ObjectKey) (*corev1.Pod, error) {
	pods := &corev1.PodList{}
	if err := shared.Client.List(t.Context(), pods, client.InNamespace(key.Namespace), client.MatchingLabels{"app": key.Name}); err != nil {
		return nil, err
	}
	if len(pods.Items) != 1 {
		return nil, fmt.Errorf("%d pods of %s, want 1", len(pods.Items), key.Name)
	}
	return &pods.Items[0], nil
}

// container checks the only container status of a Deployment's Pod.
func container(t *testing.T, key client.ObjectKey, check func(types.UID, corev1.ContainerStatus) error) func() error {
	return func() error {
		pod, err := podOf(t, key)
		if err != nil {
			return err
		}
		if len(pod.Status.ContainerStatuses) != 1 {
			return fmt.Errorf("pod has %d container statuses, want 1", len(pod.Status.ContainerStatuses))
		}
		return check(pod.UID, pod.Status.ContainerStatuses[0])
	}
}
