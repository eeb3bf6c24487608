package check

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// refusedError is a tree that is not built at all.
type refusedError struct{ findings []Finding }

func (refusedError) Error() string { return "it is made of what is elsewhere" }

// explain says where a tree is wrong that cannot be built. Kustomize names neither the line
// of a file that is no YAML, nor both places of an object that is there twice.
func (t *tree) explain(failed error) []Finding {
	var refused refusedError
	if errors.As(failed, &refused) {
		return refused.findings
	}
	said := strings.ReplaceAll(failed.Error(), t.root+string(filepath.Separator), "")
	e := explanation{said: said, seen: map[string]Finding{}}
	// What cannot be read is what kustomize says.
	_ = fs.WalkDir(t.disk.FS(), t.relative(t.dir), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // Kustomize says so.
		case entry.IsDir() && entry.Name() == ".git":
			return fs.SkipDir
		case entry.IsDir() || !slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(path)):
			return nil
		}
		if content, err := t.content(path); err == nil {
			e.look(path, content)
		}
		return nil
	})
	if len(e.findings) == 0 {
		e.findings = append(e.findings, Finding{Path: t.relative(t.dir), Level: Error, Rule: RuleBuild, Message: "it cannot be built: " + said})
	}
	return e.findings
}

// explanation is what is found in the files of a tree that cannot be built.
type explanation struct {
	// said is kustomize's error.
	said     string
	seen     map[string]Finding
	findings []Finding
}

// look looks into one file.
func (e *explanation) look(path string, content []byte) {
	documents, err := locate(content)
	if err != nil {
		e.findings = append(e.findings, notYAML(path, err))
		return
	}
	for _, in := range documents {
		here := Finding{Path: path, Line: in.node.Line, Level: Error, Rule: RuleDuplicate, Object: in.String()}
		var content any
		if err := in.node.Decode(&content); err != nil {
			// A key that is there twice, say.
			e.findings = append(e.findings, notYAML(path, err))
			continue
		}
		if in.apiVersion == "" || in.kind == "" || in.name == "" {
			// Patches and files of values need not be objects.
			if strings.Contains(e.said, path) {
				here.Rule, here.Object = RuleBuild, ""
				here.Message = "this is no object: it needs apiVersion, kind and metadata.name"
				e.findings = append(e.findings, here)
			}
			continue
		}
		first, twice := e.seen[in.id()]
		if twice && strings.Contains(e.said, "already registered id") && strings.Contains(e.said, in.name) {
			here.Message = fmt.Sprintf("it is at %s too: keep one of the two", first.place())
			e.findings = append(e.findings, here)
		}
		e.seen[in.id()] = here
	}
}

// inYAML finds the line in an error of the YAML library.
var inYAML = regexp.MustCompile(`line (\d+): (.*)`)

func notYAML(path string, err error) Finding {
	finding := Finding{Path: path, Level: Error, Rule: RuleBuild, Message: "this is no YAML: " + err.Error()}
	if match := inYAML.FindStringSubmatch(err.Error()); match != nil {
		finding.Line, _ = strconv.Atoi(match[1])
		finding.Message = "this is no YAML: " + match[2]
	}
	return finding
}
