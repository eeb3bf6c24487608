// Command build builds the programs that tests and demo run, all of them or those named.
//
//	build [name …]     build, with a line of progress for each
//	build -path name   build if need be, and print where the program lies
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/cozystack/gitops-operator/e2e/programs"
)

func main() {
	path := flag.Bool("path", false, "print the path of the one program that is named")
	flag.Parse()
	if err := run(*path, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(path bool, names []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if !path {
		return programs.Build(ctx, names, os.Stdout)
	}
	if len(names) != 1 {
		return errors.New("print a program's path: name exactly one program")
	}
	binary, err := programs.Path(ctx, names[0])
	if err != nil {
		return err
	}
	fmt.Println(binary)
	return nil
}
