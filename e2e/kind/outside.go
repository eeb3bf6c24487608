package kind

import (
	"context"
	"fmt"
)

// Outside stands for the internet: an address reserved for documentation (RFC 5737),
// neither of a pod, nor of a Service, nor private. The node answers at it, so that
// nothing leaves the cluster.
const Outside = "203.0.113.10"

// ServeOutside makes the node answer at Outside; what listens on all of its addresses,
// such as the kubelet, is found there.
func (c *Cluster) ServeOutside(ctx context.Context) error {
	if _, err := output(c.docker.command(ctx, "exec", c.node, "ip", "address", "replace", Outside+"/32", "dev", "lo")); err != nil {
		return fmt.Errorf("give the node the address %s: %w", Outside, err)
	}
	return nil
}
