package kind

import (
	"context"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
)

// requirePrograms installs the Debian packages of those programs that are missing.
// Where that cannot be done the error is ErrUnavailable and names the programs.
func requirePrograms(ctx context.Context, log io.Writer, packageOf map[string]string) error {
	missing := missingPrograms(packageOf)
	if len(missing) == 0 {
		return nil
	}
	if reason := cannotInstall(); reason != "" {
		return &unavailableError{missing: missing, hint: reason}
	}
	var packages []string
	for _, program := range missing {
		packages = append(packages, packageOf[program])
	}
	fmt.Fprintf(log, "installing Debian packages: %s\n", strings.Join(packages, " "))
	for _, args := range [][]string{
		{"update", "-q"},
		append([]string{"install", "-q", "-y", "--no-install-recommends"}, packages...),
	} {
		// Another installation may be under way.
		cmd := command(ctx, "apt-get", append([]string{"-o", "DPkg::Lock::Timeout=300"}, args...)...)
		cmd.Env = append(cmd.Env, "DEBIAN_FRONTEND=noninteractive")
		// A repository of something else that is out of reach must not matter, so only the
		// installation itself can fail.
		if _, err := output(cmd); err != nil && args[0] == "install" {
			return fmt.Errorf("install Debian packages %s: %w", strings.Join(packages, " "), err)
		}
	}
	if missing = missingPrograms(packageOf); len(missing) > 0 {
		return &unavailableError{missing: missing, hint: "their Debian packages are installed and do not have them"}
	}
	return nil
}

func missingPrograms(packageOf map[string]string) []string {
	var missing []string
	for program := range packageOf {
		if _, found := lookPath(program); !found {
			missing = append(missing, program)
		}
	}
	sort.Strings(missing)
	return missing
}

// cannotInstall says why packages cannot be installed here, "" if they can.
func cannotInstall() string {
	if _, err := os.Stat("/etc/debian_version"); err != nil {
		return "this is not Debian, so they are not installed on their own"
	}
	if os.Geteuid() != 0 {
		return "only root can install them: apt-get install docker.io debootstrap"
	}
	return ""
}
