package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/cozystack/gitops-operator/e2e/embedded"
)

const (
	operatorNamespace = "cozy-gitops"
	operatorAccount   = "gitops-operator"
)

// operatorProcess is the operator, running beside the cluster.
type operatorProcess struct {
	cmd *exec.Cmd
	log string
	// ended is told when the operator ends by itself.
	ended chan error
	// done is closed when it has ended.
	done chan struct{}
}

// startOperator runs the operator as its service account, with no other right.
func (d *demo) startOperator(ctx context.Context, cluster *embedded.Cluster, binary string) (*operatorProcess, error) {
	account, err := cluster.ServiceAccountConfig(ctx, operatorNamespace, operatorAccount)
	if err != nil {
		return nil, err
	}
	kubeconfig := d.file("operator.kubeconfig")
	if err := writeTokenKubeconfig(kubeconfig, account); err != nil {
		return nil, err
	}
	p := &operatorProcess{log: d.file("operator.log"), ended: make(chan error, 1), done: make(chan struct{})}
	log, err := os.Create(p.log)
	if err != nil {
		return nil, fmt.Errorf("start the operator: %w", err)
	}
	// The child has its own descriptor.
	defer func() { _ = log.Close() }()
	// One operator is all there is, so it needs no lease; and no port, since nobody
	// scrapes, probes or calls it.
	p.cmd = exec.Command(binary, "--leader-election=false", "--metrics-addr=0", "--health-addr=0", "--webhook-port=0", "--log-format=console")
	p.cmd.Env = []string{"KUBECONFIG=" + kubeconfig, "HOME=" + d.dir, "TMPDIR=" + d.dir}
	p.cmd.Dir = d.dir
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = childAttributes()
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the operator: %w", err)
	}
	go p.wait()
	d.say("operator: process %d, log %s", p.cmd.Process.Pid, p.log)
	return p, nil
}

func (p *operatorProcess) wait() {
	// Why it ended is in the state; an error here says no more.
	_ = p.cmd.Wait()
	last := ""
	if content, readErr := os.ReadFile(p.log); readErr == nil {
		lines := strings.Split(strings.TrimSpace(string(content)), "\n")
		last = strings.Join(lines[max(0, len(lines)-10):], "\n")
	}
	p.ended <- fmt.Errorf("the operator ended by itself: %s; it said last:\n%s", p.cmd.ProcessState, last)
	close(p.done)
}

// stop asks the operator to end, and ends it when the time is up.
func (p *operatorProcess) stop(ctx context.Context) error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop the operator: %w", err)
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		_ = p.cmd.Process.Kill()
		<-p.done
		return errors.New("stop the operator: it did not end by itself")
	}
}

// writeTokenKubeconfig writes the access of a service account.
func writeTokenKubeconfig(path string, account *rest.Config) error {
	const name = "embedded"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: account.Host, CertificateAuthorityData: account.CAData}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: account.BearerToken}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return fmt.Errorf("write the operator's kubeconfig: %w", err)
	}
	return nil
}
