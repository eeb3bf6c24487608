package embedded

import (
	"io"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ControllersNamespace is where the operator stamps tenants' controllers by default.
const ControllersNamespace = "cozy-gitops-tenants"

// Options say what runs beside the bare API server.
type Options struct {
	// Dir holds the cluster's data and logs. A given folder is left when the
	// cluster stops; by default it is a temporary one that is removed.
	Dir string
	// Flux starts source-controller and the platform's own kustomize-controller,
	// and lays the objects beside them that a real cluster has.
	Flux bool
	// FluxWithoutShardSelector runs the platform's kustomize-controller without the
	// selector that leaves objects with a shard label to others.
	FluxWithoutShardSelector bool
	// FluxOnHostNetwork lays out Flux's objects as stock Cozystack does: one
	// Deployment "flux" on the host network, in place of one for each controller.
	FluxOnHostNetwork bool
	// Runner runs the Deployments of RunnerNamespace as processes.
	Runner bool
	// RunnerNamespace is the namespace that Runner watches; ControllersNamespace by
	// default. It need not exist yet.
	RunnerNamespace string
	// RestartBackoff is how long a crashed program waits before its first restart,
	// one second by default; each further wait is twice as long.
	RestartBackoff time.Duration
	// CRDPaths are files and folders with CustomResourceDefinitions to install
	// before the controllers start, which then know these kinds from the beginning.
	CRDPaths []string
	// CRDs are installed together with those of CRDPaths.
	CRDs []client.Object
	// Applications is how the cluster serves applications, once it is told to by
	// ServeApplications; by default it is what ApplicationsVariable says.
	Applications ApplicationsMode
	// HelmReleases starts a stand-in for helm-controller, which makes the releases of
	// HelmReleases from the charts in ChartsDir.
	HelmReleases bool
	// PackageOperator starts a stand-in for the platform's operator of packages, which
	// StartPackageOperator starts again, or first where this is not set.
	PackageOperator bool
	// Scheme serves Client and NewClient(nil); Scheme() by default.
	Scheme *runtime.Scheme
	// APIServerFlags are added to kube-apiserver's.
	APIServerFlags []string
	// Output is told what starts; standard error by default.
	Output io.Writer
}

func (o Options) withDefaults() (Options, error) {
	var err error
	if o.Applications, err = o.Applications.orByEnvironment(); err != nil {
		return o, err
	}
	if o.RunnerNamespace == "" {
		o.RunnerNamespace = ControllersNamespace
	}
	if o.RestartBackoff == 0 {
		o.RestartBackoff = time.Second
	}
	if o.Scheme == nil {
		o.Scheme = Scheme()
	}
	if o.Output == nil {
		o.Output = os.Stderr
	}
	return o, nil
}
