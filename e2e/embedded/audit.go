package embedded

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

// auditPolicy logs each write once, when it is answered, and no reads.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
  verbs: [create, update, patch, delete, deletecollection]
- level: None
`

// Write is a request that asked the API server to change something.
type Write struct {
	Time                         time.Time
	Verb, User                   string
	Group, Resource, Subresource string
	Namespace, Name              string
	Code                         int32
	DryRun                       bool
	UserAgent                    string
}

// String is one line for a test's failure.
func (w Write) String() string {
	resource := w.Resource
	if w.Group != "" {
		resource += "." + w.Group
	}
	if w.Subresource != "" {
		resource += "/" + w.Subresource
	}
	dryRun := ""
	if w.DryRun {
		dryRun = " (dry run)"
	}
	return fmt.Sprintf("%s %s %s %s/%s by %s: %d%s", w.Time.Format("15:04:05.000"), w.Verb, resource, w.Namespace, w.Name, w.User, w.Code, dryRun)
}

// Stored says whether the request may have changed an object that lasts: it is no dry
// run, no question put as a create (access reviews, tokens), no lease and no event.
func (w Write) Stored() bool {
	switch {
	case w.DryRun, w.Resource == "events", w.Resource == "leases":
		return false
	case w.Group == "authorization.k8s.io", w.Group == "authentication.k8s.io", w.Subresource == "token":
		return false
	}
	return true
}

// Writes returns the writes answered since a moment that the filter accepts, in the
// order of the log; a nil filter accepts all that are Stored.
func (c *Cluster) Writes(since time.Time, filter func(Write) bool) ([]Write, error) {
	if filter == nil {
		filter = Write.Stored
	}
	file, err := os.Open(c.auditLog())
	if err != nil {
		return nil, fmt.Errorf("read audit log: %w", err)
	}
	defer func() { _ = file.Close() }()
	var writes []Write
	reader := bufio.NewReader(file)
	for {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			// A line without an end belongs to a request not yet answered.
			return writes, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read audit log: %w", err)
		}
		var event auditv1.Event
		if err := json.Unmarshal(line, &event); err != nil {
			return nil, fmt.Errorf("read audit log: %w", err)
		}
		if write := writeOf(event); !write.Time.Before(since) && filter(write) {
			writes = append(writes, write)
		}
	}
}

func (c *Cluster) auditLog() string { return filepath.Join(c.Dir, "audit.log") }

func writeOf(event auditv1.Event) Write {
	write := Write{Time: event.StageTimestamp.Time, Verb: event.Verb, User: event.User.Username, UserAgent: event.UserAgent}
	if event.ImpersonatedUser != nil {
		write.User = event.ImpersonatedUser.Username
	}
	if ref := event.ObjectRef; ref != nil {
		write.Group, write.Resource, write.Subresource = ref.APIGroup, ref.Resource, ref.Subresource
		write.Namespace, write.Name = ref.Namespace, ref.Name
	}
	if event.ResponseStatus != nil {
		write.Code = event.ResponseStatus.Code
	}
	if _, query, found := strings.Cut(event.RequestURI, "?"); found {
		if values, err := url.ParseQuery(query); err == nil {
			write.DryRun = values.Has("dryRun")
		}
	}
	return write
}
