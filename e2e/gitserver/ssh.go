package gitserver

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// clientKey is where a connection keeps the key its client proved to hold.
const clientKey = "client-key"

func newHostKey() (ssh.Signer, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make the SSH host key: %w", err)
	}
	return ssh.NewSignerFromKey(private)
}

func knownHostsLine(address string, key ssh.PublicKey) string {
	return knownhosts.Line([]string{knownhosts.Normalize(address)}, key)
}

// sshServer lets git fetch over SSH, and nothing else.
type sshServer struct {
	server *Server
	config *ssh.ServerConfig

	mu          sync.Mutex
	connections map[net.Conn]bool
	closed      bool
}

func newSSHServer(server *Server) *sshServer {
	config := &ssh.ServerConfig{
		// Which repository is meant comes later; a key of no repository ends here, as
		// on public servers.
		PublicKeyCallback: func(_ ssh.ConnMetadata, key ssh.PublicKey) (*ssh.Permissions, error) {
			if !server.knowsKey(key) {
				return nil, errors.New("this key is not known here")
			}
			return &ssh.Permissions{Extensions: map[string]string{clientKey: string(key.Marshal())}}, nil
		},
	}
	config.AddHostKey(server.hostKey)
	return &sshServer{server: server, config: config, connections: map[net.Conn]bool{}}
}

func (s *Server) knowsKey(key ssh.PublicKey) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, repository := range s.repositories {
		if access, _ := repository.rules(); access.mayReadBySSH(key) {
			return true
		}
	}
	return false
}

func (s *sshServer) serve(listener net.Listener) {
	for {
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			if s.enter(connection) {
				defer s.leave(connection)
				s.serveConnection(connection)
			}
		}()
	}
}

func (s *sshServer) enter(connection net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = connection.Close()
		return false
	}
	s.connections[connection] = true
	return true
}

func (s *sshServer) leave(connection net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_ = connection.Close()
	delete(s.connections, connection)
}

func (s *sshServer) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for connection := range s.connections {
		_ = connection.Close()
	}
}

func (s *sshServer) serveConnection(raw net.Conn) {
	connection, channels, requests, err := ssh.NewServerConn(raw, s.config)
	if err != nil {
		return
	}
	go ssh.DiscardRequests(requests)
	for offered := range channels {
		if offered.ChannelType() != "session" {
			_ = offered.Reject(ssh.UnknownChannelType, "only sessions are served here")
			continue
		}
		channel, requests, err := offered.Accept()
		if err != nil {
			return
		}
		go s.serveSession(connection, channel, requests)
	}
}

// serveSession runs the one command of a session.
func (s *sshServer) serveSession(connection *ssh.ServerConn, channel ssh.Channel, requests <-chan *ssh.Request) {
	defer func() { _ = channel.Close() }()
	for request := range requests {
		// Clients offer their environment first; git works without.
		isCommand := request.Type == "exec"
		_ = request.Reply(isCommand, nil)
		if !isCommand {
			continue
		}
		var payload struct{ Command string }
		err := ssh.Unmarshal(request.Payload, &payload)
		if err == nil {
			err = s.run(connection, payload.Command, channel)
		}
		status := struct{ Code uint32 }{}
		if err != nil {
			status.Code = 1
			_, _ = fmt.Fprintln(channel.Stderr(), err)
		}
		_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(status))
		return
	}
}

func (s *sshServer) run(connection *ssh.ServerConn, command string, channel io.ReadWriter) error {
	program, path, _ := strings.Cut(command, " ")
	if program != uploadPack {
		return fmt.Errorf("%s is not served here", program)
	}
	name := strings.TrimSuffix(strings.TrimPrefix(strings.Trim(path, "' "), "/"), ".git")
	key, err := ssh.ParsePublicKey([]byte(connection.Permissions.Extensions[clientKey]))
	if err != nil {
		return fmt.Errorf("read the client's key: %w", err)
	}
	repository := s.server.repository(name)
	if repository == nil {
		return fmt.Errorf("repository %s is not found", name)
	}
	if access, _ := repository.rules(); !access.mayReadBySSH(key) {
		return fmt.Errorf("repository %s is not found", name)
	}
	if err := repository.advertise(channel, uploadPack); err != nil {
		return err
	}
	return repository.serveFetch(channel, channel)
}
