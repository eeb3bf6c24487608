package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/pflag"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/check"
	"github.com/cozystack/gitops-operator/internal/operator"
	"github.com/cozystack/gitops-operator/internal/packages"
)

// diffCommand compares a repository's tree with a cluster.
const diffCommand = "diff"

const diffUsage = `Usage: gitops-operator diff [flags] DIR

Prints what a repository's tree would change about the values of HelmReleases, by its
PackageValues and by the platform's own Package. The cluster is the one that KUBECONFIG leads
to; only Packages, PackageSources and PackageValues are read, and nothing is written. Values are
printed as they are: passwords too.

It exits with 0 where nothing would change, 1 where something would, and 2 where that could not be
found out; what check calls an error is told first.

Flags:
`

// runDiff prints the differences to out.
func runDiff(ctx context.Context, args []string, out, diagnostics io.Writer) error {
	flags := pflag.NewFlagSet("gitops-operator "+diffCommand, pflag.ContinueOnError)
	flags.SetOutput(diagnostics)
	var options check.Options
	var export, format string
	flags.StringVar(&options.Root, "root", "", "root of the repository; by default the nearest folder above DIR that has a .git")
	flags.StringVar(&export, "packages", "", "file to compare with in place of a cluster: kubectl get packages,packagesources,packagevalues -o yaml")
	flags.StringVarP(&format, "output", "o", "text", "text or json")
	flags.Usage = func() { _, _ = fmt.Fprint(diagnostics, diffUsage+flags.FlagUsages()) }
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return nil
		}
		return exitError{exitUsage, err.Error()}
	}
	if flags.NArg() != 1 {
		return exitError{exitUsage, "diff needs one folder: gitops-operator diff DIR"}
	}
	if !slices.Contains([]string{"text", "json"}, format) {
		return exitError{exitUsage, fmt.Sprintf("--output=%s is neither text nor json", format)}
	}
	options.Dir = flags.Arg(0)
	var err error
	if export != "" {
		options.Export, err = check.ReadExport(export)
	} else {
		options.Export, err = readCluster(ctx)
	}
	if err != nil {
		return exitError{exitUsage, err.Error()}
	}
	effects, report, err := check.Effects(options)
	if err != nil {
		return exitError{exitUsage, err.Error()}
	}
	for _, finding := range report.Findings {
		if _, err := fmt.Fprintln(diagnostics, finding); err != nil {
			return err
		}
	}
	if check.Count(report.Findings, check.Error) > 0 {
		return exitError{exitUsage, "nothing is compared: mend what is wrong first"}
	}
	if err := printEffects(effects, format, out); err != nil {
		return exitError{exitUsage, err.Error()}
	}
	if len(effects) > 0 {
		return exitError{code: exitFound}
	}
	return nil
}

func printEffects(effects []check.Effect, format string, out io.Writer) error {
	if format == "json" {
		if effects == nil {
			effects = []check.Effect{}
		}
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(effects)
	}
	for _, effect := range effects {
		if _, err := fmt.Fprintf(out, "%s (component %s of %s)\n", effect.Release, effect.Component, effect.Package); err != nil {
			return err
		}
		for _, change := range effect.Changes {
			if _, err := fmt.Fprintf(out, "  %s\n", change); err != nil {
				return err
			}
		}
	}
	return nil
}

// readCluster reads what a tree is compared with.
func readCluster(ctx context.Context) (*check.Export, error) {
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("cannot find a cluster: set KUBECONFIG, or compare with a file by --packages: %w", err)
	}
	c, err := client.New(config, client.Options{Scheme: operator.Scheme()})
	if err != nil {
		return nil, fmt.Errorf("cannot make a client: %w", err)
	}
	export := check.NewExport()
	var pkgs packages.PackageList
	var sources packages.PackageSourceList
	var values cozyv1.PackageValuesList
	for _, kind := range []struct {
		plural string
		list   client.ObjectList
	}{{"Packages", &pkgs}, {"PackageSources", &sources}, {"PackageValues", &values}} {
		if err := c.List(ctx, kind.list); err != nil {
			return nil, fmt.Errorf("cannot list %s of the cluster at %s: %w", kind.plural, config.Host, err)
		}
	}
	for i := range pkgs.Items {
		export.Packages[pkgs.Items[i].Name] = &pkgs.Items[i]
	}
	for i := range sources.Items {
		export.Sources[sources.Items[i].Name] = &sources.Items[i]
	}
	for i := range values.Items {
		export.Values[values.Items[i].Name] = &values.Items[i]
	}
	return export, nil
}
