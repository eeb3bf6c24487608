package kind

import (
	"context"
	"errors"
	"time"
)

// diagnose collects what the node has to say about a cluster that did not come up. The
// node stays, for a closer look; the next Create removes it.
func (c *Cluster) diagnose(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 20*time.Second)
	defer cancel()
	log, err := output(c.docker.command(ctx, "exec", c.node, "journalctl", "--no-pager", "--quiet", "--priority=warning", "--lines=30"))
	if err != nil {
		if log, err = output(c.docker.command(ctx, "logs", "--tail", "30", c.node)); err != nil {
			return nil
		}
	}
	return errors.New("the node's last warnings:\n" + log)
}
