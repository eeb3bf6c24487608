package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// measured are the latencies of all requests of a load, sorted.
type measured []time.Duration

// quantile is the latency that this part of the requests did not exceed.
func (m measured) quantile(part float64) time.Duration {
	return m[min(len(m)-1, int(part*float64(len(m))))]
}

// askAtRate asks at a steady rate, however long the answers take, and measures from the
// moment at which a request was due: one that waits for those before it counts in full.
func askAtRate(ctx context.Context, rate int, length time.Duration, ask func(context.Context, int) error) (measured, error) {
	count := int(length.Seconds() * float64(rate))
	taken := make(measured, count)
	failures := make([]error, count)
	var asked sync.WaitGroup
	began := time.Now()
	for i := range count {
		due := began.Add(time.Duration(i) * time.Second / time.Duration(rate))
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(time.Until(due)):
		}
		asked.Go(func() {
			failures[i] = ask(ctx, i)
			taken[i] = time.Since(due)
		})
	}
	asked.Wait()
	for i, err := range failures {
		if err != nil {
			return nil, fmt.Errorf("request %d: %w", i, err)
		}
	}
	slices.Sort(taken)
	return taken, nil
}
