package embedded

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
)

// Ports are drawn from below the range that the kernel gives to outgoing connections,
// so that none of those takes a port between the draw and the program's start.
const lowestPort, highestPort = 12000, 32000

var drawnPorts = struct {
	sync.Mutex
	taken map[int]bool
}{taken: map[int]bool{}}

// FreePort draws a loopback port that nothing listens on and that was not drawn before.
func FreePort() (int, error) {
	drawnPorts.Lock()
	defer drawnPorts.Unlock()
	for range 1000 {
		port := lowestPort + rand.IntN(highestPort-lowestPort) //nolint:gosec // G404: a port is no secret
		if drawnPorts.taken[port] {
			continue
		}
		listener, err := net.Listen("tcp", loopback(port))
		if err != nil {
			continue
		}
		if err := listener.Close(); err != nil {
			return 0, fmt.Errorf("draw a free port: %w", err)
		}
		drawnPorts.taken[port] = true
		return port, nil
	}
	return 0, fmt.Errorf("draw a free port: all tries between %d and %d were taken", lowestPort, highestPort)
}

// freePorts fills each of the given places with a port.
func freePorts(places ...*int) error {
	for _, place := range places {
		port, err := FreePort()
		if err != nil {
			return err
		}
		*place = port
	}
	return nil
}

// loopback is the address of a port on this machine alone.
func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
