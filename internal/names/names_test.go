package names

import (
	"regexp"
	"strings"
	"testing"
)

var dnsLabel = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)

func TestShortenAtItsEdges(t *testing.T) {
	for _, length := range []int{1, 61, 62, 63, 64, 84, 253} {
		name := strings.Repeat("a", length)
		got := Shorten(name, MaxLabel)
		switch {
		case length < MaxLabel && got != name:
			t.Errorf("length %d: shortened to %q without need", length, got)
		case length >= MaxLabel && len(got) != MaxLabel:
			t.Errorf("length %d: got %d characters, want %d", length, len(got), MaxLabel)
		}
	}
}

func TestShortenedNameCannotBeChosen(t *testing.T) {
	victim := Shorten("kustomize-controller-tenant-"+strings.Repeat("a", 55), MaxLabel)
	// The attacker names a tenant so that the unshortened name would be the
	// victim's: it is as long as a shortened name, so it is shortened too.
	if got := Shorten(victim, MaxLabel); got == victim {
		t.Fatalf("a chosen name equals the shortened name %q", victim)
	}
}

func TestControllerOfALongNamespaceIsALabel(t *testing.T) {
	long := "tenant-" + strings.Repeat("b", 56)
	if len(long) != 63 {
		t.Fatalf("the namespace has %d characters", len(long))
	}
	got := Controller(long)
	if len(got) > MaxLabel || !dnsLabel.MatchString(got) {
		t.Errorf("Controller(%q) = %q, which is no DNS label", long, got)
	}
	if other := Controller(long[:62] + "c"); other == got {
		t.Errorf("two namespaces share the controller %q", got)
	}
}

func FuzzShorten(f *testing.F) {
	f.Add("tenant-a", "tenant-b")
	f.Add(strings.Repeat("a", 70), strings.Repeat("a", 71))
	f.Add("a"+strings.Repeat("-", 60)+"abc", "x")
	f.Fuzz(func(t *testing.T, a, b string) {
		if !dnsLabel.MatchString(a) || !dnsLabel.MatchString(b) {
			return
		}
		shortA, shortB := Shorten(a, MaxLabel), Shorten(b, MaxLabel)
		if len(shortA) > MaxLabel || !dnsLabel.MatchString(shortA) {
			t.Fatalf("Shorten(%q) = %q is no label", a, shortA)
		}
		if a != b && shortA == shortB {
			t.Fatalf("%q and %q share %q", a, b, shortA)
		}
	})
}

func TestSourceOfUndoesFluxObject(t *testing.T) {
	if got, ok := SourceOf(FluxObject("apps")); !ok || got != "apps" {
		t.Errorf("SourceOf(FluxObject(apps)) = %q, %v", got, ok)
	}
	if _, ok := SourceOf("somebody-elses"); ok {
		t.Error("SourceOf accepts a name that FluxObject cannot make")
	}
}
