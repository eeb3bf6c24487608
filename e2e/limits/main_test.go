package limits_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/fluxcd/pkg/apis/meta"
	"github.com/fluxcd/pkg/runtime/logger"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/e2e/embedded"
	"github.com/cozystack/gitops-operator/e2e/harness"
	"github.com/cozystack/gitops-operator/internal/operator"
)

const (
	// root leads from this package to the repository.
	root = "../.."
	// bound is small, so that a file of some hundred kilobytes is too large.
	bound = "64Ki"
	// largeFile is left alone by kustomize, and by Flux's own list of what to ignore.
	largeFile = "large.bin"
	// asks is how a person asks Flux to fetch now.
	asks = meta.ReconcileRequestAnnotation
)

// cluster has the policies and webhooks in it; the real Flux controllers run beside.
var cluster *embedded.Cluster

func TestMain(m *testing.M) {
	logger.SetLogger(logger.NewLogger(logger.Options{LogEncoding: "console", LogLevel: "error"}))
	os.Exit(embedded.Main(m, harness.Options(root), func(ctx context.Context, c *embedded.Cluster) error {
		cluster = c
		return harness.Install(ctx, c, root)
	}))
}

// randomFile cannot be packed smaller.
func randomFile(t *testing.T) string {
	t.Helper()
	content := make([]byte, 200<<10)
	if _, err := rand.Read(content); err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// allow sets the largest artifact, and for the test's end the one before.
func allow(t *testing.T, size string) {
	t.Helper()
	var before *resource.Quantity
	set := func(ctx context.Context, quantity *resource.Quantity) error {
		stored := &gitopsv1.GitOpsParameters{}
		if err := cluster.Client.Get(ctx, client.ObjectKey{Name: gitopsv1.GitOpsParametersName}, stored); err != nil {
			return err
		}
		changed := stored.DeepCopy()
		before, changed.Spec.MaxArtifactSize = stored.Spec.MaxArtifactSize, quantity
		return cluster.Client.Patch(ctx, changed, client.MergeFrom(stored))
	}
	quantity := resource.MustParse(size)
	if err := set(t.Context(), &quantity); err != nil {
		t.Fatal(err)
	}
	restored := before
	t.Cleanup(func() {
		if err := set(context.Background(), restored); err != nil {
			t.Error(err)
		}
	})
}

// person is the client of somebody in the group of a tenant's admins.
func person(t *testing.T, namespace string) client.Client {
	t.Helper()
	config, err := cluster.UserConfig("alice", namespace+"-admin")
	if err != nil {
		t.Fatal(err)
	}
	made, err := client.New(config, client.Options{Scheme: operator.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// change patches an object as it is stored.
func change[T client.Object](t *testing.T, c client.Client, obj T, edit func(T)) error {
	t.Helper()
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(obj), obj); err != nil {
		t.Fatal(err)
	}
	changed := obj.DeepCopyObject().(T)
	edit(changed)
	return c.Patch(t.Context(), changed, client.MergeFrom(obj))
}

// fetchNow asks Flux to fetch a source.
func fetchNow(t *testing.T, obj client.Object) {
	t.Helper()
	err := change(t, cluster.Client, obj, func(o client.Object) {
		annotations := map[string]string{asks: time.Now().Format(time.RFC3339Nano)}
		for key, value := range o.GetAnnotations() {
			if key != asks {
				annotations[key] = value
			}
		}
		o.SetAnnotations(annotations)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// awaitUnmanaged waits until the status lists an object written by hand in a state.
func awaitUnmanaged(t *testing.T, namespace, kind, name string, ready metav1.ConditionStatus, part string) gitopsv1.UnmanagedObject {
	t.Helper()
	var found gitopsv1.UnmanagedObject
	harness.Await(t, fmt.Sprintf("%s %s to be listed as %s with %q", kind, name, ready, part), func(context.Context) (bool, string) {
		status := harness.Read(t, cluster.Client, namespace).Status
		for _, object := range status.Unmanaged {
			if object.Kind == kind && object.Name == name {
				found = object
				return object.Ready == ready && strings.Contains(object.Reason+": "+object.Message, part), fmt.Sprintf("%+v", object)
			}
		}
		return false, fmt.Sprintf("%+v", status.Unmanaged)
	})
	return found
}
