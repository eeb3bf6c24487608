package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"gomodules.xyz/jsonpatch/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

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
	answer, name, err := r.answer(ctx, request, packagesOf(release, old))
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	if answer.problem != nil {
		return admission.Denied(fmt.Sprintf("its values cannot be made: %s: mend or delete PackageValues %s", answer.problem, name))
	}
	return admission.Patched("", patchFor(answer.Answer, release, old, request.UserInfo.Username == r.operator)...)
}

// patchFor makes the answer of a release that is written; old is what is stored, nil for a new
// one.
func patchFor(answer override.Answer, release submitted, old *submitted, byOperator bool) []jsonpatch.Operation {
	switch answer.Stance {
	case override.Plain:
		return append(withValues(release, answer.Values), withoutOurs(release)...)
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

// answered is what becomes of a release, or why that cannot be said.
type answered struct {
	override.Answer
	problem error
}

// answer asks one Package after the other, until one knows the release.
func (r *releases) answer(ctx context.Context, request admission.Request, names []string) (answer answered, name string, err error) {
	for _, name = range names {
		snapshot, err := override.Read(ctx, r.uncached, name)
		if err != nil {
			return answered{}, name, err
		}
		answer.Answer, answer.problem = snapshot.ForRelease(types.NamespacedName{Namespace: request.Namespace, Name: request.Name})
		if answer.problem != nil || answer.Stance != override.Unknown {
			return answer, name, nil
		}
	}
	return answered{}, "", nil
}

// packagesOf are the names of the Packages that a release may be of: as its owner or its label
// says, or said before. Whoever takes the platform's label off, or writes another one, does not
// take the override along until the platform's operator puts it back.
func packagesOf(release submitted, old *submitted) []string {
	sides := []submitted{release}
	if old != nil {
		sides = append(sides, *old)
	}
	var names []string
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, written := range sides {
		for _, owner := range written.Metadata.OwnerReferences {
			if owner.Kind == "Package" && strings.HasPrefix(owner.APIVersion, packages.GroupVersion.Group+"/") {
				add(owner.Name)
			}
		}
		add(written.Metadata.Labels[packages.PackageLabel])
	}
	return names
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

// withoutOurs takes the label off, and the annotation: with the label alone gone nobody would
// find the annotation again.
func withoutOurs(release submitted) []jsonpatch.Operation {
	var patch []jsonpatch.Operation
	if _, labelled := release.Metadata.Labels[packages.OverriddenLabel]; labelled {
		patch = append(patch, jsonpatch.Operation{Operation: "remove", Path: labelPath})
	}
	if _, annotated := release.Metadata.Annotations[packages.WantedAnnotation]; annotated {
		patch = append(patch, jsonpatch.Operation{Operation: "remove", Path: annotationPath})
	}
	return patch
}

var (
	labelPath      = "/metadata/labels/" + strings.ReplaceAll(packages.OverriddenLabel, "/", "~1")
	annotationPath = "/metadata/annotations/" + strings.ReplaceAll(packages.WantedAnnotation, "/", "~1")
)
