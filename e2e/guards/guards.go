// Package guards tries a Customizer's guards on a cluster: a table of objects, verbs, fields and
// accounts, with the verdict of each. All but the guards is out of the way: every account may do
// everything.
package guards

import (
	"context"
	"fmt"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/cozystack/gitops-operator/internal/customizer"
)

// flux is whom the platform's Flux acts as.
const flux = "system:serviceaccount:cozy-fluxcd:flux"

// kustomizeController is the field manager of all that Flux applies from a repository.
const kustomizeController = client.FieldOwner("kustomize-controller")

func object(text string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		panic(err)
	}
	return o
}

func packageOf(name, values string) *unstructured.Unstructured {
	return object("apiVersion: cozystack.io/v1alpha1\nkind: Package\nmetadata: {name: " + name + ", labels: {example.org/from: helm}}\nspec: {variant: default, components: {web: {values: " + values + "}}}")
}

func source(namespace, name string) *unstructured.Unstructured {
	return object("apiVersion: source.toolkit.fluxcd.io/v1\nkind: OCIRepository\nmetadata: {namespace: " + namespace + ", name: " + name + "}\nspec: {url: 'oci://registry.example.org/acme', interval: 1h, suspend: true}")
}

// What the attempts are about.
const (
	helmsPackage   = "acme.guarded"
	updatedPackage = "acme.guarded-update"
	platformSource = "cozystack-packages"
	otherSource    = "acme-packages"
)

// Lay lays in what the attempts are about, and lets the accounts do everything.
func Lay(ctx context.Context, admin client.Client, accounts ...string) error {
	// As helm-controller does, by server-side apply and by an update.
	applied := packageOf(helmsPackage, "{replicas: 1, host: a.example.org}")
	if err := admin.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner("helm-controller")); err != nil {
		return fmt.Errorf("lay Package %s: %w", helmsPackage, err)
	}
	for _, o := range []client.Object{
		packageOf(updatedPackage, "{replicas: 1}"), source("cozy-system", platformSource), source("cozy-system", otherSource), source("default", platformSource),
	} {
		if err := admin.Create(ctx, o, client.FieldOwner("helm-controller")); client.IgnoreAlreadyExists(err) != nil {
			return fmt.Errorf("lay %s %s: %w", o.GetObjectKind().GroupVersionKind().Kind, o.GetName(), err)
		}
	}
	for _, account := range accounts {
		binding := &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "guards-" + account},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: "cozy-system", Name: account}},
		}
		if err := admin.Create(ctx, binding); client.IgnoreAlreadyExists(err) != nil {
			return fmt.Errorf("let %s do everything: %w", account, err)
		}
	}
	return nil
}

// attempt is one write, which is not carried out.
type attempt struct {
	object, verb, field string
	try                 func(context.Context, client.Client) error
}

func applyOf(name, field string, values string) attempt {
	return attempt{"Package " + name, "apply", field, func(ctx context.Context, c client.Client) error {
		o := packageOf(name, values)
		o.SetLabels(nil)
		unstructured.RemoveNestedField(o.Object, "spec", "variant")
		return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), kustomizeController, client.ForceOwnership, client.DryRunAll)
	}}
}

func patchOf(o *unstructured.Unstructured, field string, kind types.PatchType, body string) attempt {
	name := o.GetKind() + " " + strings.TrimPrefix(client.ObjectKeyFromObject(o).String(), "/")
	return attempt{name, map[types.PatchType]string{types.MergePatchType: "merge patch", types.JSONPatchType: "json patch"}[kind], field, func(ctx context.Context, c client.Client) error {
		return c.Patch(ctx, o.DeepCopy(), client.RawPatch(kind, []byte(body)), client.DryRunAll)
	}}
}

func statusOf(o *unstructured.Unstructured, body string) attempt {
	a := patchOf(o, "status", types.MergePatchType, body)
	a.try = func(ctx context.Context, c client.Client) error {
		return c.Status().Patch(ctx, o.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(body)),
			&client.SubResourcePatchOptions{PatchOptions: client.PatchOptions{DryRun: []string{metav1.DryRunAll}}})
	}
	return a
}

func deleteOf(o *unstructured.Unstructured) attempt {
	a := patchOf(o, "", types.MergePatchType, "")
	a.verb = "delete"
	a.try = func(ctx context.Context, c client.Client) error { return c.Delete(ctx, o.DeepCopy(), client.DryRunAll) }
	return a
}

func attempts() []attempt {
	helms, updated := packageOf(helmsPackage, "{}"), packageOf(updatedPackage, "{}")
	bootstrap := packageOf(customizer.BootstrapPackage, "{}")
	platforms, others, elsewhere := source("cozy-system", platformSource), source("cozy-system", otherSource), source("default", platformSource)
	const replicas = `{"spec":{"components":{"web":{"values":{"replicas":5}}}}}`
	const url = `{"spec":{"url":"oci://registry.example.org/theft"}}`
	return []attempt{
		applyOf(helmsPackage, "one of helm-controller's, to another value", "{replicas: 5}"),
		applyOf(helmsPackage, "one of helm-controller's, to the same value", "{replicas: 1}"),
		applyOf(helmsPackage, "a new one", "{extra: 1}"),
		patchOf(helms, "one of helm-controller's, to another value", types.MergePatchType, replicas),
		patchOf(helms, "one of helm-controller's, taken out", types.MergePatchType, `{"spec":{"components":{"web":{"values":{"replicas":null}}}}}`),
		patchOf(helms, "a new one", types.MergePatchType, `{"spec":{"components":{"web":{"values":{"extra":1}}}}}`),
		patchOf(helms, "a label of helm-controller's", types.MergePatchType, `{"metadata":{"labels":{"example.org/from":"git"}}}`),
		patchOf(helms, "a new label", types.MergePatchType, `{"metadata":{"labels":{"example.org/new":"git"}}}`),
		patchOf(helms, "who manages what", types.JSONPatchType, `[{"op":"replace","path":"/metadata/managedFields","value":[{}]}]`),
		{"Package " + helmsPackage, "merge patch", "one of helm-controller's, in its name", func(ctx context.Context, c client.Client) error {
			return c.Patch(ctx, helms.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(replicas)), client.FieldOwner("helm-controller"), client.DryRunAll)
		}},
		statusOf(helms, `{"status":{"conditions":[]}}`),
		deleteOf(helms),
		applyOf(updatedPackage, "one of helm-controller's, to another value", "{replicas: 5}"),
		patchOf(updated, "one of helm-controller's, to another value", types.MergePatchType, replicas),
		applyOf(customizer.BootstrapPackage, "any", "{replicas: 5}"),
		patchOf(bootstrap, "all of them", types.MergePatchType, `{"spec":{"components":null}}`),
		deleteOf(bootstrap),
		patchOf(platforms, "spec.url", types.MergePatchType, url),
		patchOf(platforms, "a label", types.MergePatchType, `{"metadata":{"labels":{"a":"b"}}}`),
		statusOf(platforms, `{"status":{"url":"http://theft"}}`),
		deleteOf(platforms),
		{"GitRepository cozy-system/" + platformSource, "create", "", func(ctx context.Context, c client.Client) error {
			o := source("cozy-system", platformSource)
			o.SetKind("GitRepository")
			if err := unstructured.SetNestedField(o.Object, "https://git.example.org/acme", "spec", "url"); err != nil {
				return err
			}
			return c.Create(ctx, o, client.DryRunAll)
		}},
		patchOf(others, "spec.url", types.MergePatchType, url),
		patchOf(elsewhere, "spec.url", types.MergePatchType, url),
	}
}

// Account is somebody who tries.
type Account struct {
	// Name is what the table calls them.
	Name string
	// Client acts as them.
	Client client.Client
}

// As is who acts as a service account of cozy-system.
func As(account string) string { return "system:serviceaccount:cozy-system:" + account }

// Flux is whom the platform's Flux acts as.
func Flux() string { return flux }

// Table has each account try everything, and says what came of it.
func Table(ctx context.Context, accounts []Account) (string, error) {
	var table strings.Builder
	for _, a := range attempts() {
		fmt.Fprintf(&table, "%s: %s", a.object, a.verb)
		if a.field != "" {
			fmt.Fprintf(&table, " (%s)", a.field)
		}
		table.WriteString("\n")
		for _, account := range accounts {
			verdict, err := verdictOf(a.try(ctx, account.Client))
			if err != nil {
				return "", fmt.Errorf("%s: %s (%s), by %s: %w", a.object, a.verb, a.field, account.Name, err)
			}
			fmt.Fprintf(&table, "    %-42s %s\n", account.Name, verdict)
		}
	}
	return table.String(), nil
}

// verdictOf says which guard refused. Whatever else is wrong with a write is an error.
func verdictOf(err error) (string, error) {
	switch {
	case err == nil:
		return "passes", nil
	case !apierrors.IsForbidden(err):
		return "", err
	case strings.Contains(err.Error(), "the guard supplyChain keeps"):
		return "refused by the guard supplyChain", nil
	case strings.Contains(err.Error(), "the guard packageFields keeps"):
		return "refused by the guard packageFields", nil
	default:
		return "", err
	}
}
