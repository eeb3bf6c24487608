package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/pflag"

	"github.com/cozystack/gitops-operator/internal/check"
)

// checkCommand reads a repository's tree without a cluster.
const checkCommand = "check"

// What "check" exits with.
const (
	// exitFound: something would be refused, or, with --strict, would surprise.
	exitFound = 1
	// exitUsage: it could not be checked.
	exitUsage = 2
)

// exitError ends the program with a code, and without a word where there is no text.
type exitError struct {
	code int
	text string
}

func (e exitError) Error() string { return e.text }

const checkUsage = `Usage: gitops-operator check [flags] DIR

Reads a repository's tree without a cluster, and prints what the cluster would refuse (error),
or what would surprise (warning). DIR is the folder that spec.path leads to; it is built as Flux
builds it.

It exits with 0 where nothing is found, 1 where something would be refused, and 2 where it could
not be checked.

Flags:
`

// runCheck prints its findings to out.
func runCheck(args []string, out, diagnostics io.Writer) error {
	flags := pflag.NewFlagSet("gitops-operator "+checkCommand, pflag.ContinueOnError)
	flags.SetOutput(diagnostics)
	var options check.Options
	var export, format string
	var strict bool
	flags.StringVar(&options.Root, "root", "", "root of the repository; by default the nearest folder above DIR that has a .git")
	flags.BoolVar(&options.Tenant, "tenant", false, "the repository is a tenant's: applications and nothing else")
	flags.StringVar(&export, "packages", "", "file with the cluster's Packages, to compare PackageValues with: kubectl get packages,packagesources -o yaml")
	flags.StringVarP(&format, "output", "o", "text", "text or json")
	flags.BoolVar(&strict, "strict", false, "exit with 1 for warnings too")
	flags.Usage = func() { _, _ = fmt.Fprint(diagnostics, checkUsage+flags.FlagUsages()) }
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			return nil
		}
		return exitError{exitUsage, err.Error()}
	}
	if flags.NArg() != 1 {
		return exitError{exitUsage, "check needs one folder: gitops-operator check DIR"}
	}
	if !slices.Contains([]string{"text", "json"}, format) {
		return exitError{exitUsage, fmt.Sprintf("--output=%s is neither text nor json", format)}
	}
	options.Dir = flags.Arg(0)
	if export != "" {
		var err error
		if options.Export, err = check.ReadExport(export); err != nil {
			return exitError{exitUsage, err.Error()}
		}
	}
	report, err := check.Run(options)
	if err != nil {
		return exitError{exitUsage, err.Error()}
	}
	if err := printReport(report, format, out, diagnostics); err != nil {
		return exitError{exitUsage, err.Error()}
	}
	if check.Count(report.Findings, check.Error) > 0 || strict && len(report.Findings) > 0 {
		return exitError{code: exitFound}
	}
	return nil
}

func printReport(report check.Report, format string, out, diagnostics io.Writer) error {
	if format == "json" {
		if report.Findings == nil {
			report.Findings = []check.Finding{}
		}
		encoder := json.NewEncoder(out)
		encoder.SetIndent("", "  ")
		return encoder.Encode(report)
	}
	for _, finding := range report.Findings {
		if _, err := fmt.Fprintln(out, finding); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(diagnostics, "%d errors and %d warnings in %d objects\n",
		check.Count(report.Findings, check.Error), check.Count(report.Findings, check.Warning), report.Objects)
	return err
}
