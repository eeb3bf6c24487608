package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"gomodules.xyz/jsonpatch/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/override"
	"github.com/cozystack/gitops-operator/internal/packages"
)

// releases answers for HelmReleases whose values are overridden: they get the values, and
// keep the label, that the Package and the PackageValues of now give them, whoever writes them
// and whatever was submitted.
//
// Both are read from the API server: with what a cache still holds, a release that is written
// because its Package has changed would get the values of before, and nobody would write it
// again.
type releases struct {
	uncached client.Reader
	// operator is the user that the operator is.
	operator string
}

// submitted is what is read of a release that is written.
type submitted struct {
	Metadata metav1.ObjectMeta `json:"metadata"`
	Spec     struct {
		Values *apiextensionsv1.JSON `json:"values"`
	} `json:"spec"`
}

func (s submitted) values() []byte {
	if s.Spec.Values == nil {
		return nil
	}
	return s.Spec.Values.Raw
}

// Handle answers with a patch of no more than the values and the label.
func (r *releases) Handle(ctx context.Context, request admission.Request) admission.Response {
	var release submitted
	if err := json.Unmarshal(request.Object.Raw, &release); err != nil {
		return admission.Errored(http.StatusBadRequest, fmt.Errorf("cannot parse the HelmRelease: %w", err))
	}
	var old *submitted
	if len(request.OldObject.Raw) > 0 {
		old = &submitted{}
		if err := json.Unmarshal(request.OldObject.Raw, old); err != nil {
			return admission.Errored(http.StatusBadRequest, fmt.Errorf("cannot parse the stored HelmRelease: %w", err))
		}
	}
	name := release.Metadata.Labels[packages.PackageLabel]
	if name == "" && old != nil {
		// The platform's operator keeps its label; whoever takes it off does not take the
		// override along.
		name = old.Metadata.Labels[packages.PackageLabel]
	}
	if name == "" {
		return admission.Allowed("")
	}
	snapshot, err := r.snapshot(ctx, name)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	answer, err := snapshot.ForRelease(types.NamespacedName{Namespace: request.Namespace, Name: request.Name})
	if err != nil {
		return admission.Denied(fmt.Sprintf("its values cannot be made: %s: mend or delete PackageValues %s", err, name))
	}
	return admission.Patched("", patchFor(answer, release, old, request.UserInfo.Username == r.operator)...)
}

// patchFor makes the answer of a release that is written; old is what is stored, nil for a new
// one.
func patchFor(answer override.Answer, release submitted, old *submitted, byOperator bool) []jsonpatch.Operation {
	switch answer.Stance {
	case override.Plain:
		return append(withValues(release, answer.Values), withoutLabel(release)...)
	case override.Overridden:
		return append(withValues(release, answer.Values), withLabel(release)...)
	case override.Frozen:
		if old == nil {
			return nil
		}
		return append(withValues(release, old.values()), withLabel(release)...)
	case override.Unknown:
		// No policy can hold the operator to the values that it finds: a thief of its token
		// could write others into a release whose Package is gone.
		if byOperator && old != nil {
			return withValues(release, old.values())
		}
	}
	return nil
}

// snapshot reads what the answer is made of; what does not exist is nil.
func (r *releases) snapshot(ctx context.Context, name string) (override.Snapshot, error) {
	pkg, source, values := &packages.Package{}, &packages.PackageSource{}, &cozyv1.PackageValues{}
	for _, object := range []client.Object{pkg, source, values} {
		err := r.uncached.Get(ctx, client.ObjectKey{Name: name}, object)
		switch {
		case err == nil:
		case apierrors.IsNotFound(err):
			switch object.(type) {
			case *packages.Package:
				pkg = nil
			case *packages.PackageSource:
				source = nil
			default:
				values = nil
			}
		default:
			return override.Snapshot{}, fmt.Errorf("cannot read %T %s: %w", object, name, err)
		}
	}
	return override.Snapshot{Package: pkg, Source: source, Values: values}, nil
}

// withValues makes a release have these values; nil for none.
func withValues(release submitted, values []byte) []jsonpatch.Operation {
	const path = "/spec/values"
	submittedDigest, err := packages.Digest(release.values())
	wanted, wantedErr := packages.Digest(values)
	switch {
	case err == nil && wantedErr == nil && submittedDigest == wanted:
		return nil
	case len(values) == 0:
		return []jsonpatch.Operation{{Operation: "remove", Path: path}}
	}
	// As text: a number that no float holds is the API server's to read.
	return []jsonpatch.Operation{{Operation: "add", Path: path, Value: json.RawMessage(values)}}
}

func withLabel(release submitted) []jsonpatch.Operation {
	if release.Metadata.Labels[packages.OverriddenLabel] == packages.Overridden {
		return nil
	}
	if release.Metadata.Labels == nil {
		return []jsonpatch.Operation{{Operation: "add", Path: "/metadata/labels", Value: map[string]string{packages.OverriddenLabel: packages.Overridden}}}
	}
	return []jsonpatch.Operation{{Operation: "add", Path: labelPath, Value: packages.Overridden}}
}

func withoutLabel(release submitted) []jsonpatch.Operation {
	if _, labelled := release.Metadata.Labels[packages.OverriddenLabel]; !labelled {
		return nil
	}
	return []jsonpatch.Operation{{Operation: "remove", Path: labelPath}}
}

var labelPath = "/metadata/labels/" + strings.ReplaceAll(packages.OverriddenLabel, "/", "~1")
