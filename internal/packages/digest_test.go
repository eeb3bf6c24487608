package packages_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/cozystack/gitops-operator/internal/packages"
)

func digest(t *testing.T, values string) string {
	t.Helper()
	found, err := packages.Digest([]byte(values))
	if err != nil {
		t.Fatalf("%s: %v", values, err)
	}
	return found
}

// TestDigestIsOfWhatIsStored has groups of values: the API server makes the same of those in
// one, and something else of those in another.
func TestDigestIsOfWhatIsStored(t *testing.T) {
	of := map[string]string{}
	for _, group := range [][]string{
		{``},
		{`{}`, ` { } `, "{\n}"},
		{`{"a":null}`},
		{`{"a":{}}`},
		{`{"a":[]}`},
		{`{"a":""}`},
		{`{"a":false}`},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, "{\"a\": 1,\n\t\"b\": 2}", `{"a":3,"b":2,"a":1}`},
		{`{"a":1}`, `{"a":1.0}`, `{"a":1e0}`, `{"a":10E-1}`, `{"\u0061":1}`},
		{`{"a":"1"}`},
		{`{"A":1}`},
		{`{"a":1000}`, `{"a":1e3}`, `{"a":1000.0}`},
		{`{"a":0}`, `{"a":-0}`, `{"a":-0.0}`, `{"a":0.0}`, `{"a":1e-999}`, `{"a":-1e-999}`},
		{`{"a":[0]}`, `{"a":[-0.0]}`},
		{`{"a":0.1}`, `{"a":1e-1}`, `{"a":0.10000000000000000001}`},
		{`{"a":9007199254740993}`},
		{`{"a":9007199254740992}`, `{"a":9007199254740993.0}`},
		{`{"a":9223372036854775807}`},
		{`{"a":9223372036854775808}`, `{"a":9223372036854775809}`},
		{`{"a":"\u00e9<&>"}`, `{"a":"é\u003c\u0026\u003e"}`},
		{`{"a":"e\u0301<&>"}`},
		{`{"a":[1,2]}`, `{"a":[1.0, 2.0]}`},
		{`{"a":[2,1]}`},
		{`{"a":{"b":{"c":1,"d":[{"f":1,"e":2}]}}}`, `{"a":{"b":{"d":[{"e":2,"f":1}],"c":1}}}`},
	} {
		first := digest(t, group[0])
		if other, seen := of[first]; seen {
			t.Errorf("%s and %s have one digest", group[0], other)
		}
		of[first] = group[0]
		for _, same := range group[1:] {
			if got := digest(t, same); got != first {
				t.Errorf("%s and %s have two digests", group[0], same)
			}
		}
	}
	if digest(t, "") != "" || len(digest(t, "{}")) != len("sha256:")+64 {
		t.Errorf("the digest of nothing is %q, that of {} is %q", digest(t, ""), digest(t, "{}"))
	}
}

// TestDigestOutlivesStoring writes and reads random values as the API server does.
func TestDigestOutlivesStoring(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		outlivesStoring(t, []byte(randomMap(random, 3)))
	}
}

// FuzzDigest does the same with any text.
func FuzzDigest(f *testing.F) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		f.Add([]byte(randomMap(random, 3)))
	}
	f.Fuzz(outlivesStoring)
}

func outlivesStoring(t *testing.T, values []byte) {
	t.Helper()
	before, err := packages.Digest(values)
	var content any
	if readErr := utiljson.Unmarshal(values, &content); (readErr == nil) != (err == nil) && len(values) > 0 {
		t.Fatalf("%s: the API server says %v, the digest %v", values, readErr, err)
	}
	if err != nil || len(values) == 0 {
		return
	}
	stored := values
	for range 3 {
		var content any
		if err := utiljson.Unmarshal(stored, &content); err != nil {
			t.Fatal(err)
		}
		if stored, err = utiljson.Marshal(content); err != nil {
			t.Fatal(err)
		}
		if after, err := packages.Digest(stored); err != nil || after != before {
			t.Fatalf("%s is stored as %s, of which the digest is another: %v", values, stored, err)
		}
	}
}

func randomMap(random *rand.Rand, depth int) string {
	var members []string
	for i := range random.IntN(4) {
		members = append(members, fmt.Sprintf("%q:%s", string(rune('a'+i))+"<é", randomValue(random, depth)))
	}
	random.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return "{" + strings.Join(members, ", ") + "}"
}

func randomValue(random *rand.Rand, depth int) string {
	if depth == 0 {
		scalars := []string{"null", "true", `""`, `"\u0041\ud83d\ude00"`, `"\ud800"`, "-0", "-0.0", "1e21", "1E-7", "123456789012345678901", "0.1", "-9223372036854775808", "1.7976931348623157e308"}
		switch random.IntN(3) {
		case 0:
			return fmt.Sprint(random.Int64() - random.Int64())
		case 1:
			return fmt.Sprint(random.NormFloat64())
		}
		return scalars[random.IntN(len(scalars))]
	}
	if random.IntN(2) == 0 {
		return "[" + randomValue(random, depth-1) + "," + randomMap(random, depth-1) + "]"
	}
	return randomMap(random, depth-1)
}

// TestDigestDoesNotTellWhatItCouldNotRead looks for the text of a number that no float holds.
func TestDigestDoesNotTellWhatItCouldNotRead(t *testing.T) {
	for _, values := range []string{`{"pin":4711e999}`, `{"pin":4711x}`, `{"pin":"4711}`} {
		_, err := packages.Digest([]byte(values))
		if err == nil || strings.Contains(err.Error(), "4711") {
			t.Errorf("%s: %v", values, err)
		}
	}
}
