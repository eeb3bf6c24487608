package kind

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/gitserver"
)

const (
	gitServerImage     = imageRegistry + "/git-server:test"
	gitServerName      = "git-server"
	gitServerNamespace = "git-server"
)

// StartGitServer starts a git server as a pod, reachable for all pods, and connects to it
// from here. Its repositories live as long as the pod.
func (c *Cluster) StartGitServer(ctx context.Context) (*gitserver.Remote, error) {
	dir, remove, err := workFolder(c.cache)
	if err != nil {
		return nil, err
	}
	defer remove()
	binary, err := buildOwn(ctx, "gitserver/serve", dir)
	if err != nil {
		return nil, err
	}
	if err := c.LoadBinaryImage(ctx, gitServerImage, binary, "serve"); err != nil {
		return nil, err
	}
	password := rand.Text()
	manifest, err := render("git-server.yaml", map[string]string{
		"Namespace": gitServerNamespace, "Name": gitServerName, "Image": gitServerImage, "PushPassword": password,
	})
	if err != nil {
		return nil, err
	}
	if err := c.Apply(ctx, manifest); err != nil {
		return nil, err
	}
	if err := c.AwaitDeployment(ctx, gitServerNamespace, gitServerName); err != nil {
		return nil, err
	}
	return c.connectToGitServer(ctx, password)
}

// connectToGitServer waits until the node's port leads to the pod, which is a moment after
// the pod is ready.
func (c *Cluster) connectToGitServer(ctx context.Context, password string) (*gitserver.Remote, error) {
	reader, err := c.Client()
	if err != nil {
		return nil, err
	}
	service := &corev1.Service{}
	if err := reader.Get(ctx, client.ObjectKey{Namespace: gitServerNamespace, Name: gitServerName}, service); err != nil {
		return nil, fmt.Errorf("find the git server's port: %w", err)
	}
	var url string
	for _, port := range service.Spec.Ports {
		if port.Name == "http" {
			url = "http://" + net.JoinHostPort(c.NodeAddress, fmt.Sprint(port.NodePort))
		}
	}
	var server *gitserver.Remote
	var last error
	err = wait.PollUntilContextTimeout(ctx, pollInterval, time.Minute, true, func(ctx context.Context) (bool, error) {
		server, last = gitserver.Connect(ctx, url, password)
		return last == nil, nil
	})
	if err != nil {
		return nil, errors.Join(err, last)
	}
	return server, nil
}
