package counts

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Client is a client whose writes are counted, in the ways in which the operator writes;
// other ways are not offered, so that none goes uncounted.
type Client struct {
	client.Reader
	writer  client.Client
	counter *Counter
}

// NewClient makes a client of another one.
func NewClient(behind client.Client, counter *Counter) *Client {
	return &Client{Reader: behind, writer: behind, counter: counter}
}

// Create stores a new object.
func (c *Client) Create(ctx context.Context, object client.Object) error {
	return c.count(Create, object, func() error { return c.writer.Create(ctx, object) })
}

// Update replaces an object.
func (c *Client) Update(ctx context.Context, object client.Object) error {
	return c.count(Update, object, func() error { return c.writer.Update(ctx, object) })
}

// UpdateStatus replaces an object's status.
func (c *Client) UpdateStatus(ctx context.Context, object client.Object) error {
	return c.count(UpdateStatus, object, func() error { return c.writer.Status().Update(ctx, object) })
}

// Delete deletes an object; it counts as a change.
func (c *Client) Delete(ctx context.Context, object client.Object) error {
	err := c.writer.Delete(ctx, object)
	return c.add(Delete, object, "", err)
}

// Apply applies an object by force.
func (c *Client) Apply(ctx context.Context, object *unstructured.Unstructured, owner client.FieldOwner) error {
	return c.count(Apply, object, func() error {
		return c.writer.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), owner, client.ForceOwnership)
	})
}

func (c *Client) count(verb string, object client.Object, write func() error) error {
	before := object.GetResourceVersion()
	err := write()
	return c.add(verb, object, before, err)
}

// add counts a write that ended with an error or nil, and returns that.
func (c *Client) add(verb string, object client.Object, before string, err error) error {
	kind, kindErr := c.writer.GroupVersionKindFor(object)
	if kindErr != nil {
		// It was not written either.
		return err
	}
	written := Write{Verb: verb, Kind: kind.Kind, Namespace: object.GetNamespace(), Name: object.GetName()}
	c.counter.wrote(written, before, object.GetResourceVersion(), err)
	return err
}
