package embedded

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"time"
)

const etcdTimeout = 30 * time.Second

func (c *Cluster) startEtcd(ctx context.Context) error {
	client, peer := "http://"+loopback(c.ports.etcd), "http://"+loopback(c.ports.etcdPeer)
	p, err := c.start(ctx, "etcd", nil,
		"--data-dir="+filepath.Join(c.Dir, "etcd", "data"),
		"--listen-client-urls="+client, "--advertise-client-urls="+client,
		"--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer, "--initial-cluster=default="+peer,
		// Nothing here outlives the machine.
		"--unsafe-no-fsync",
		"--log-level=warn",
	)
	if err != nil {
		return err
	}
	return p.awaitReady(ctx, etcdTimeout, func(ctx context.Context) error { return getOK(ctx, http.DefaultClient, client+"/health") })
}

// getOK is nil once a URL answers 200.
func getOK(ctx context.Context, httpClient *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := httpClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s", url, response.Status)
	}
	return nil
}
