package embedded

import (
	"context"
	"net/http"
	"time"
)

const (
	// probeOften is the pause between health checks of a program that is starting,
	// probeSeldom that of one that is ready.
	probeOften, probeSeldom = 100 * time.Millisecond, time.Second
	probeTimeout            = time.Second
)

// watch follows one process until it ends: whether it is ready, and whether it takes
// more memory than its container may.
func (i *instance) watch(p *process, health string) {
	defer i.notify()
	pause := time.NewTimer(probeOften)
	defer pause.Stop()
	for {
		select {
		case <-p.done:
			return
		case <-pause.C:
		}
		if limit := i.container.Resources.Limits.Memory().Value(); limit > 0 && residentMemory(p.pid()) > limit {
			i.setOutOfMemory()
			p.kill()
			return
		}
		ready := i.probe(p, health)
		if i.setReady(p, ready) {
			i.notify()
		}
		if ready {
			pause.Reset(probeSeldom)
		} else {
			pause.Reset(probeOften)
		}
	}
}

func (i *instance) probe(p *process, health string) bool {
	if health == "" {
		return false
	}
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	return getOK(ctx, http.DefaultClient, health) == nil && p.running()
}

// setReady says whether that is news; of a process that was replaced it never is.
func (i *instance) setReady(p *process, ready bool) (changed bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.process != p || i.ready == ready {
		return false
	}
	i.ready = ready
	return true
}
