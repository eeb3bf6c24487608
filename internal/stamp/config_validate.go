package stamp

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// keptFlags keep tenants apart, or are computed for each tenant; extra arguments
// may not name them, since the last one of two equal flags wins.
var keptFlags = []string{
	"watch-all-namespaces",
	"watch-label-selector",
	"no-cross-namespace-refs",
	"no-remote-bases",
	"default-service-account",
	"default-decryption-service-account",
	"default-kubeconfig-service-account",
	"feature-gates",
	"events-addr",
	"sops-age-secret",
	"sops-vault-configmap",
	"insecure-kubeconfig-exec",
	"insecure-kubeconfig-tls",
	"enable-leader-election",
	"metrics-addr",
	"health-addr",
}

// oneGate is one feature gate: a list in one value could name any.
var oneGate = regexp.MustCompile(`^[A-Za-z0-9]+=(true|false)$`)

// Validate says what is wrong with the configuration of the controllers.
func (c Config) Validate() error {
	var errs []error
	if c.ControllersNamespace == "" || c.OperatorNamespace == "" || c.OperatorAccount == "" {
		errs = append(errs, errors.New("the controllers' namespace, the operator's namespace and the operator's service account must be set"))
	}
	if c.ControllersNamespace == c.OperatorNamespace {
		errs = append(errs, fmt.Errorf("the controllers' namespace must not be the operator's own, %q: whoever runs pods beside the operator can use its account", c.OperatorNamespace))
	}
	if c.Controller.Image == "" {
		errs = append(errs, errors.New("the controllers' image must be set"))
	}
	for _, arg := range c.Controller.ExtraArgs {
		flag, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if !strings.HasPrefix(arg, "--") {
			errs = append(errs, fmt.Errorf("extra argument %q of the controllers must have the form --flag=value", arg))
		}
		for _, kept := range keptFlags {
			if flag == kept {
				errs = append(errs, fmt.Errorf("extra argument %q of the controllers is not allowed: the operator sets --%s itself", arg, kept))
			}
		}
	}
	for _, gate := range c.Controller.FeatureGates {
		name, _, _ := strings.Cut(gate, "=")
		if !oneGate.MatchString(gate) || name == "DisableConfigWatchers" || name == "CacheSecretsAndConfigMaps" {
			errs = append(errs, fmt.Errorf("feature gate %q of the controllers is not allowed: write Name=true or Name=false, and neither DisableConfigWatchers, which the operator sets itself, nor CacheSecretsAndConfigMaps, which needs the right to list Secrets", gate))
		}
	}
	if _, ok := c.Controller.Resources.Limits[corev1.ResourceMemory]; !ok {
		errs = append(errs, errors.New("the controllers need a memory limit: one tenant's build must not take the node's memory"))
	}
	for name, limit := range c.Controller.Resources.Limits {
		if limit.Sign() <= 0 {
			errs = append(errs, fmt.Errorf("the controllers' limit of %s must be more than nothing", name))
		}
		if request, ok := c.Controller.Resources.Requests[name]; ok && request.Cmp(limit) > 0 {
			errs = append(errs, fmt.Errorf("the controllers' request of %s, %s, must not exceed the limit, %s", name, request.String(), limit.String()))
		}
	}
	return errors.Join(errs...)
}
