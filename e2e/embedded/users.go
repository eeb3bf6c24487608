package embedded

import (
	"context"
	"fmt"
	"path/filepath"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/certificates"
)

const (
	adminGroup = "system:masters"
	// RunnerUser is who mints the programs' tokens and writes what a kubelet and the
	// deployment controller would.
	RunnerUser = "embedded-runner"
	// accountTokenSeconds exceeds every run, so that no token need be renewed.
	accountTokenSeconds = 30 * 24 * 60 * 60
)

// UserConfig returns the connection of a person, by a client certificate.
func (c *Cluster) UserConfig(user string, groups ...string) (*rest.Config, error) {
	pair, err := c.authority.Issue(certificates.Subject{CommonName: user, Organizations: groups})
	if err != nil {
		return nil, fmt.Errorf("make credentials of %s: %w", user, err)
	}
	return &rest.Config{
		Host: c.url(),
		TLSClientConfig: rest.TLSClientConfig{
			CAData: c.authority.CertificatePEM, CertData: pair.CertificatePEM, KeyData: pair.KeyPEM,
		},
		// Tests poll; waiting for a client's own budget would only slow them down.
		QPS: -1,
	}, nil
}

// ServiceAccountConfig returns the connection of a service account, by a token.
func (c *Cluster) ServiceAccountConfig(ctx context.Context, namespace, name string) (*rest.Config, error) {
	token, err := c.mintToken(ctx, namespace, name, nil)
	if err != nil {
		return nil, err
	}
	return &rest.Config{
		Host: c.url(), BearerToken: token.Token, QPS: -1,
		TLSClientConfig: rest.TLSClientConfig{CAData: c.authority.CertificatePEM},
	}, nil
}

// mintToken asks for a token of a service account, which ends with the Pod if one is given.
func (c *Cluster) mintToken(ctx context.Context, namespace, name string, pod *corev1.Pod) (authenticationv1.TokenRequestStatus, error) {
	seconds := int64(accountTokenSeconds)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	if pod != nil {
		request.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{
			APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID,
		}
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	if err := c.runnerClient.SubResource("token").Create(ctx, account, request); err != nil {
		return request.Status, fmt.Errorf("mint a token of service account %s: %w", client.ObjectKeyFromObject(account), err)
	}
	return request.Status, nil
}

// writeUserKubeconfig writes the kubeconfig of a person, with the keys inside.
func (c *Cluster) writeUserKubeconfig(path string, config *rest.Config) error {
	return c.writeKubeconfig(path, &clientcmdapi.AuthInfo{
		ClientCertificateData: config.CertData, ClientKeyData: config.KeyData,
	}, "default")
}

// writeTokenKubeconfig writes a kubeconfig that reads its token from the file "token"
// beside it, which clients read again from time to time, as they do in a pod.
func (c *Cluster) writeTokenKubeconfig(dir, namespace, token string) (kubeconfig string, err error) {
	if err := writeFile(filepath.Join(dir, "token"), []byte(token)); err != nil {
		return "", fmt.Errorf("write token: %w", err)
	}
	kubeconfig = filepath.Join(dir, "kubeconfig")
	return kubeconfig, c.writeKubeconfig(kubeconfig, &clientcmdapi.AuthInfo{TokenFile: filepath.Join(dir, "token")}, namespace)
}

func (c *Cluster) writeKubeconfig(path string, user *clientcmdapi.AuthInfo, namespace string) error {
	const name = "embedded"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{Server: c.url(), CertificateAuthorityData: c.authority.CertificatePEM}
	config.AuthInfos[name] = user
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name, Namespace: namespace}
	config.CurrentContext = name
	content, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("encode kubeconfig %s: %w", path, err)
	}
	if err := writeFile(path, content); err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	return nil
}
