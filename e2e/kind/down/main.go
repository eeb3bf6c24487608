// Command down deletes a kind cluster, and ends the Docker daemon that was started for it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/cozystack/gitops-operator/e2e/kind"
)

func main() {
	name := flag.String("name", kind.DefaultName, "name of the cluster")
	flag.Parse()
	if err := kind.Delete(context.Background(), *name); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
