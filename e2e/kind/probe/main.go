// Command probe is a pod that answers, and that tells whether it gets an answer from
// another address. Tests use it to see what NetworkPolicies let through.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"time"
)

// patience is how long an answer may take: a policy that denies may drop packets, and
// then none ever comes.
const patience = 3 * time.Second

func main() {
	address := ":8080"
	if len(os.Args) > 1 {
		address = os.Args[1]
	}
	http.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	http.HandleFunc("GET /dial", dial)
	http.HandleFunc("GET /resolve", resolve)
	server := &http.Server{Addr: address, ReadHeaderTimeout: patience}
	log.Fatal(server.ListenAndServe())
}

// dial opens a TCP connection to the address in "to" and answers 200 if it was accepted.
func dial(w http.ResponseWriter, request *http.Request) {
	dialer := net.Dialer{Timeout: patience}
	connection, err := dialer.DialContext(request.Context(), "tcp", request.FormValue("to"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer func() { _ = connection.Close() }()
	fmt.Fprintf(w, "connected to %s\n", connection.RemoteAddr())
}

// resolve answers 200 with the addresses of the name in "name".
func resolve(w http.ResponseWriter, request *http.Request) {
	ctx, cancel := context.WithTimeout(request.Context(), patience)
	defer cancel()
	addresses, err := net.DefaultResolver.LookupHost(ctx, request.FormValue("name"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	fmt.Fprintln(w, addresses)
}
