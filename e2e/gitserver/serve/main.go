// Command serve runs the git server of tests by itself, as in a pod. Repositories are
// made and filled over HTTP, with the password in PUSH_PASSWORD, and live as long as the
// process.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/cozystack/gitops-operator/e2e/gitserver"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "serve:", err)
		os.Exit(1)
	}
}

func run() error {
	options := gitserver.Options{PushPassword: os.Getenv("PUSH_PASSWORD")}
	flag.StringVar(&options.HTTPAddress, "http-addr", ":8080", "where to serve HTTP")
	flag.StringVar(&options.HTTPSAddress, "https-addr", ":8443", "where to serve HTTPS")
	flag.StringVar(&options.SSHAddress, "ssh-addr", ":2222", "where to serve SSH")
	flag.StringVar(&options.Host, "host", "127.0.0.1", "what clients call this server")
	flag.Parse()
	if options.PushPassword == "" {
		return errors.New("the variable PUSH_PASSWORD is not set")
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	server, err := gitserver.Start(options)
	if err != nil {
		return err
	}
	fmt.Println("serving git at", server.HTTP, server.HTTPS, server.SSH)
	<-ctx.Done()
	return server.Close()
}
