package check

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	cozyv1 "github.com/cozystack/gitops-operator/api/cozystack/v1alpha1"
	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/config/crd"
)

// ownGroup is the one whose kinds are all ours; of cozystack.io one is.
var ownGroup = gitopsv1.GroupVersion.Group

// kinds are our kinds, as a cluster with this version of the operator knows them.
type kinds map[string]*kind

// kind checks objects as the API server does.
type kind struct {
	versions   []string
	structural *schema.Structural
	schema     validation.SchemaValidator
	rules      *cel.Validator
}

// ownKinds reads the operator's own CustomResourceDefinitions.
func ownKinds() (kinds, error) {
	definitions, err := crd.Definitions()
	if err != nil {
		return nil, err
	}
	own := kinds{}
	for _, definition := range definitions {
		for _, version := range definition.Spec.Versions {
			key := definition.Spec.Group + "/" + definition.Spec.Names.Kind
			if own[key] == nil {
				own[key] = &kind{}
			}
			own[key].versions = append(own[key].versions, version.Name)
			if !version.Storage {
				continue
			}
			if err := own[key].read(version.Schema.OpenAPIV3Schema); err != nil {
				return nil, fmt.Errorf("cannot read the schema of %s: %w", key, err)
			}
		}
	}
	return own, nil
}

func (k *kind) read(openAPI *apiextensionsv1.JSONSchemaProps) error {
	internal := &apiextensions.JSONSchemaProps{}
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(openAPI, internal, nil)
	if err != nil {
		return err
	}
	if k.structural, err = schema.NewStructural(internal); err != nil {
		return err
	}
	if k.schema, _, err = validation.NewSchemaValidator(internal); err != nil {
		return err
	}
	k.rules = cel.NewValidator(k.structural, true, celconfig.PerCallLimit)
	return nil
}

// check says what the API server would refuse of an object of ours, and what it would drop.
func (all kinds) check(d document) []Finding {
	group, name := d.group(), d.object.GetKind()
	ours := all[group+"/"+name]
	if ours == nil {
		if group == ownGroup || group == cozyv1.GroupVersion.Group && isMisspelled(name, cozyv1.PackageValuesKind) {
			return []Finding{d.at([]string{"kind"}, Error, RuleUnknownKind, "there is no kind %s in %s; write %s", name, group, strings.Join(all.in(group), " or "))}
		}
		return nil
	}
	if version := d.object.GroupVersionKind().Version; !slices.Contains(ours.versions, version) {
		return []Finding{d.at([]string{"apiVersion"}, Error, RuleUnknownKind, "%s has no version %s; write %s/%s", name, version, group, ours.versions[0])}
	}
	content := d.object.DeepCopy().Object
	var findings []Finding
	for _, unknown := range pruning.PruneWithOptions(content, ours.structural, true, schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}) {
		path := fieldPath(unknown)
		message := "the field %s is not known and would be dropped"
		if near := ours.near(path); near != "" {
			message += "; is it " + near + "?"
		}
		findings = append(findings, d.at(path, Error, RuleSchema, message, unknown))
	}
	defaulting.Default(content, ours.structural)
	refused := validation.ValidateCustomResource(nil, content, ours.schema)
	refused = append(refused, listtype.ValidateListSetsAndMaps(nil, ours.structural, content)...)
	if len(refused) == 0 && len(findings) == 0 {
		// As in the API server, rules are for what has the right types.
		broken, _ := ours.rules.Validate(context.Background(), nil, ours.structural, content, nil, celconfig.RuntimeCELCostBudget)
		refused = append(refused, broken...)
	}
	for _, err := range refused {
		findings = append(findings, d.at(fieldPath(err.Field), Error, RuleSchema, "%s", refusal(err)))
	}
	return findings
}

// refusal is what the API server says, with the field first.
func refusal(err *field.Error) string {
	if err.Field == "" || err.Field == "<nil>" {
		return err.ErrorBody()
	}
	return err.Field + ": " + err.ErrorBody()
}

// in are our kinds of a group.
func (all kinds) in(group string) []string {
	var names []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if in, name, _ := strings.Cut(key, "/"); in == group {
			names = append(names, name)
		}
	}
	return names
}

// maxMisspelled is how many letters of a name may be wrong for another one to be meant.
const maxMisspelled = 2

// isMisspelled says whether a name is another one, written wrongly. Most kinds of the group
// that we share are the platform's, which may have more of them than we know.
func isMisspelled(name, meant string) bool {
	return editDistance(strings.ToLower(name), strings.ToLower(meant)) <= maxMisspelled
}

// near is a known field that is written much like an unknown one.
func (k *kind) near(path []string) string {
	at := k.structural
	for _, key := range path[:len(path)-1] {
		switch {
		case at == nil:
			return ""
		case at.Items != nil:
			at = at.Items
		case at.AdditionalProperties != nil && at.AdditionalProperties.Structural != nil:
			at = at.AdditionalProperties.Structural
		default:
			property, found := at.Properties[key]
			if !found {
				return ""
			}
			at = &property
		}
	}
	if at == nil {
		return ""
	}
	if at.Items != nil {
		at = at.Items
	}
	unknown := path[len(path)-1]
	best, least := "", maxMisspelled+1
	for _, known := range slices.Sorted(maps.Keys(at.Properties)) {
		if distance := editDistance(strings.ToLower(unknown), strings.ToLower(known)); distance < least {
			best, least = known, distance
		}
	}
	return best
}

// editDistance is how many letters are to be added, removed or changed.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
