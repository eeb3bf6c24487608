package attempts

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Attempt is one escape: what is changed of an object that is all right, and a part of
// the sentence by which a policy refuses it, that says the mend.
type Attempt struct {
	Name   string
	Change Change
	Mend   string
	// BySchema is of an escape that the kind's own schema refuses as well.
	BySchema bool
}

// manager is the field manager of whoever applies.
const manager = "kubectl"

// Way is one way to write an object. Write dry-runs it, and returns the object as it
// would be stored.
type Way struct {
	Name  string
	Write func(context.Context, client.Client, *unstructured.Unstructured, Change) (*unstructured.Unstructured, error)
}

// Ways are all ways to write an object.
var Ways = []Way{
	{"create", create}, {"update", update}, {"patch", patch}, {"apply", apply},
}

func create(ctx context.Context, c client.Client, good *unstructured.Unstructured, change Change) (*unstructured.Unstructured, error) {
	bad := good.DeepCopy()
	if bad.GetKind() != "TenantGitOps" {
		bad.SetName("created")
	}
	change(bad)
	return bad, c.Create(ctx, bad, client.DryRunAll)
}

func update(ctx context.Context, c client.Client, good *unstructured.Unstructured, change Change) (*unstructured.Unstructured, error) {
	var written *unstructured.Unstructured
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		stored, err := Read(ctx, c, good)
		if err != nil {
			return err
		}
		change(stored)
		written = stored
		return c.Update(ctx, stored, client.DryRunAll)
	})
	return written, err
}

func patch(ctx context.Context, c client.Client, good *unstructured.Unstructured, change Change) (*unstructured.Unstructured, error) {
	stored, err := Read(ctx, c, good)
	if err != nil {
		return nil, err
	}
	changed := stored.DeepCopy()
	change(changed)
	return changed, c.Patch(ctx, changed, client.MergeFrom(stored), client.DryRunAll)
}

func apply(ctx context.Context, c client.Client, good *unstructured.Unstructured, change Change) (*unstructured.Unstructured, error) {
	bad := good.DeepCopy()
	change(bad)
	return bad, c.Apply(ctx, client.ApplyConfigurationFromUnstructured(bad), client.FieldOwner(manager), client.ForceOwnership, client.DryRunAll)
}

// Read returns an object as it is stored.
func Read(ctx context.Context, c client.Client, good *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	stored := good.DeepCopy()
	return stored, c.Get(ctx, client.ObjectKeyFromObject(good), stored)
}

// Store lays in the object that attempts change, by the same hand and manager as the
// attempts, so that an apply without a field takes the field away.
func Store(ctx context.Context, c client.Client, good *unstructured.Unstructured) error {
	return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(good.DeepCopy()), client.FieldOwner(manager), client.ForceOwnership)
}
