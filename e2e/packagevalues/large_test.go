package packagevalues_test

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cozystack/gitops-operator/internal/packages"
)

// TestLargeValuesAreToldByTheirDigest: values of a megabyte reach the release, and the status
// shows their digest and paths in their place.
func TestLargeValuesAreToldByTheirDigest(t *testing.T) {
	operator.AwaitReady(t)
	const name = "large"
	newComponents(t, name, map[string]string{"web": "{replicas: 1}"})
	large := strings.Repeat("x", 1<<20)
	create(t, object(t, "PackageValues", name, fmt.Sprintf("spec: {components: {web: {values: {document: %s}}}}", large)))
	// The chart of the tests puts its values into a ConfigMap, which does not hold so many.
	told := awaitComponentState(t, name, "web", metav1.ConditionFalse, "ReleaseFailed")
	digest, err := packages.Digest([]byte(fmt.Sprintf(`{"replicas":1,"document":%q}`, large)))
	if err != nil {
		t.Fatal(err)
	}
	if told.Values != nil || told.Digest != digest || len(told.Overridden) != 1 || told.Overridden[0] != "document" {
		t.Errorf("values of %d bytes are told, digest %s, want %s; overridden %v", len(text(t, told.Values)), told.Digest, digest, told.Overridden)
	}
	wantComponent(t, name, "web", fmt.Sprintf("{replicas: 1, document: %s}", large))
}

// TestStatusFitsBesideALargeSpec: what nearly fills an object leaves no room for lists; the
// status still says what has become of it.
func TestStatusFitsBesideALargeSpec(t *testing.T) {
	operator.AwaitReady(t)
	const name = "full"
	newComponents(t, name, map[string]string{"web": "{}"})
	// Many long keys in one value that is no map, and some that are paths of their own.
	var values []string
	for i := range 100 {
		values = append(values, fmt.Sprintf("%s%d: 1", strings.Repeat("k", 1000), i))
	}
	values = append(values, "document: "+strings.Repeat("x", 1200<<10))
	create(t, object(t, "PackageValues", name, "spec: {components: {web: {values: {"+strings.Join(values, ", ")+"}}}}"))
	told := awaitComponentState(t, name, "web", metav1.ConditionFalse, "ReleaseFailed")
	if told.Digest == "" || told.OverriddenCount != 101 {
		t.Errorf("the status is %s", text(t, told))
	}
}
