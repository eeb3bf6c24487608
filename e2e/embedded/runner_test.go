package embedded

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestDeploymentRunsAsItsOwnAccountUntilItIsDeleted(t *testing.T) {
	key := runTenantController(t, unique("tenant-run"), soundImage)
	await(t, deploymentReady(t, key))
	if log := shared.Logs(key.Name, 1000); strings.Contains(log, "forbidden") {
		t.Errorf("the controller was refused something:\n%s", log)
	}
	pid, err := shared.PID(key.Name)
	if err != nil {
		t.Fatal(err)
	}
	deployment := &appsv1.Deployment{}
	deployment.Namespace, deployment.Name = key.Namespace, key.Name
	if err := shared.Client.Delete(t.Context(), deployment); err != nil {
		t.Fatal(err)
	}
	await(t, func() error {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("process %d of a deleted Deployment: %w", pid, err)
		}
		if pod, err := podOf(t, key); err == nil {
			return fmt.Errorf("pod %s of a deleted Deployment is still there", pod.Name)
		}
		return nil
	})
}

func TestChangedTemplateReplacesPodAndProcess(t *testing.T) {
	tenant := unique("tenant-change")
	key := runTenantController(t, tenant, soundImage)
	await(t, deploymentReady(t, key))
	before, err := podOf(t, key)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := shared.PID(key.Name)
	if err != nil {
		t.Fatal(err)
	}
	runTenantController(t, tenant, soundImage+"-next")
	await(t, container(t, key, func(uid types.UID, status corev1.ContainerStatus) error {
		if uid == before.UID || !status.Ready || status.Image != soundImage+"-next" {
			return fmt.Errorf("pod %s (before: %s) has status %+v", uid, before.UID, status)
		}
		return nil
	}))
	if now, err := shared.PID(key.Name); err != nil || now == pid {
		t.Errorf("process is %d, %v; it was %d", now, err, pid)
	}
}

func TestDeploymentAtZeroReplicasRunsNothing(t *testing.T) {
	key := runTenantController(t, unique("tenant-zero"), soundImage)
	await(t, deploymentReady(t, key))
	deployment := &appsv1.Deployment{}
	deployment.Namespace, deployment.Name = key.Namespace, key.Name
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":0}}`))
	if err := shared.Client.Patch(t.Context(), deployment, patch); err != nil {
		t.Fatal(err)
	}
	await(t, func() error {
		if err := shared.Client.Get(t.Context(), key, deployment); err != nil {
			return err
		}
		if s := deployment.Status; s.ObservedGeneration != deployment.Generation || s.Replicas != 0 || s.ReadyReplicas != 0 {
			return fmt.Errorf("status at zero replicas: %+v", s)
		}
		if _, err := shared.PID(key.Name); err == nil {
			return errors.New("a process runs")
		}
		return nil
	})
}

func TestImageThatNobodyHasIsReported(t *testing.T) {
	key := runTenantController(t, unique("tenant-noimage"), "registry.example.org/fluxcd/kustomize-controller:"+TagMissing)
	await(t, container(t, key, func(_ types.UID, status corev1.ContainerStatus) error {
		if status.Ready || status.State.Waiting == nil || status.State.Waiting.Reason != "ImagePullBackOff" {
			return fmt.Errorf("container status: %+v", status)
		}
		return nil
	}))
}

func TestCrashLoopIsReportedWithTheLastWords(t *testing.T) {
	key := runTenantController(t, unique("tenant-crash"), "registry.example.org/fluxcd/kustomize-controller:"+TagCrash)
	await(t, container(t, key, func(_ types.UID, status corev1.ContainerStatus) error {
		last := status.LastTerminationState.Terminated
		if status.RestartCount < 2 || status.State.Waiting == nil || status.State.Waiting.Reason != "CrashLoopBackOff" || last == nil {
			return fmt.Errorf("container status: %+v", status)
		}
		if last.Reason != "Error" || last.ExitCode != 1 || last.Message != "this image always crashes\n" {
			return fmt.Errorf("last termination: %+v", last)
		}
		return nil
	}))
}

func TestKilledProgramRestartsInItsPod(t *testing.T) {
	key := runTenantController(t, unique("tenant-oom"), soundImage)
	await(t, deploymentReady(t, key))
	before, err := podOf(t, key)
	if err != nil {
		t.Fatal(err)
	}
	if err := shared.OutOfMemory(key.Name); err != nil {
		t.Fatal(err)
	}
	await(t, container(t, key, func(uid types.UID, status corev1.ContainerStatus) error {
		last := status.LastTerminationState.Terminated
		if uid != before.UID || !status.Ready || status.RestartCount != 1 || last == nil || last.Reason != "OOMKilled" || last.ExitCode != 137 {
			return fmt.Errorf("pod %s (before: %s), container status: %+v", uid, before.UID, status)
		}
		return nil
	}))
}

func TestProgramBeyondItsMemoryLimitIsKilled(t *testing.T) {
	key := runTenantController(t, unique("tenant-memory"), soundImage)
	deployment := &appsv1.Deployment{}
	deployment.Namespace, deployment.Name = key.Namespace, key.Name
	patch := client.RawPatch(types.JSONPatchType, []byte(`[{"op":"replace","path":"/spec/template/spec/containers/0/resources/limits/memory","value":"8Mi"}]`))
	if err := shared.Client.Patch(t.Context(), deployment, patch); err != nil {
		t.Fatal(err)
	}
	await(t, container(t, key, func(_ types.UID, status corev1.ContainerStatus) error {
		if last := status.LastTerminationState.Terminated; last == nil || last.Reason != "OOMKilled" {
			return fmt.Errorf("container status: %+v", status)
		}
		return nil
	}))
}

func TestDeletedPodIsReplaced(t *testing.T) {
	key := runTenantController(t, unique("tenant-pod"), soundImage)
	await(t, deploymentReady(t, key))
	before, err := podOf(t, key)
	if err != nil {
		t.Fatal(err)
	}
	if err := shared.KillPod(t.Context(), key.Name); err != nil {
		t.Fatal(err)
	}
	await(t, container(t, key, func(uid types.UID, status corev1.ContainerStatus) error {
		if uid == before.UID || !status.Ready || status.RestartCount != 0 {
			return fmt.Errorf("pod %s (before: %s), container status: %+v", uid, before.UID, status)
		}
		return nil
	}))
}

func TestPodThatAdmissionRefusesIsReported(t *testing.T) {
	key := runTenantController(t, unique("tenant-refused"), soundImage)
	deployment := &appsv1.Deployment{}
	deployment.Namespace, deployment.Name = key.Namespace, key.Name
	patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"template":{"spec":{"serviceAccountName":"nobody","serviceAccount":"nobody"}}}}`))
	if err := shared.Client.Patch(t.Context(), deployment, patch); err != nil {
		t.Fatal(err)
	}
	await(t, func() error {
		if err := shared.Client.Get(t.Context(), key, deployment); err != nil {
			return err
		}
		for _, condition := range deployment.Status.Conditions {
			if condition.Type == appsv1.DeploymentReplicaFailure && strings.Contains(condition.Message, `serviceaccount "nobody" not found`) {
				return nil
			}
		}
		return fmt.Errorf("conditions: %+v", deployment.Status.Conditions)
	})
}

func TestSteadyDeploymentCausesNoWrites(t *testing.T) {
	key := runTenantController(t, unique("tenant-steady"), soundImage)
	await(t, deploymentReady(t, key))
	since := time.Now()
	// Long enough for several health checks.
	timer := time.NewTimer(3 * time.Second)
	defer timer.Stop()
	<-timer.C
	writes, err := shared.Writes(since, func(w Write) bool {
		return w.Stored() && (w.User == RunnerUser || w.Namespace == ControllersNamespace)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, write := range writes {
		if strings.Contains(write.Name, key.Name) {
			t.Error(write)
		}
	}
}
