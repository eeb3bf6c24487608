package customizer_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
	"github.com/cozystack/gitops-operator/internal/customizer"
)

// aged is a Customizer of an age in minutes.
func aged(name, account string, age int) gitopsv1.Customizer {
	c := gitopsv1.Customizer{ObjectMeta: metav1.ObjectMeta{
		Name: name, UID: types.UID(name), CreationTimestamp: metav1.NewTime(time.Unix(1e9, 0).Add(-time.Duration(age) * time.Minute)),
	}}
	c.Status.Account = account
	return c
}

func TestAccount(t *testing.T) {
	deleted := aged("old", "", 9)
	now := metav1.Now()
	deleted.DeletionTimestamp = &now
	for name, tc := range map[string]struct {
		self   gitopsv1.Customizer
		others []gitopsv1.Customizer
		owner  string
		want   string
	}{
		"the only one":                          {self: aged("a", "", 1), want: customizer.FirstAccount},
		"the older one":                         {self: aged("b", "", 2), others: []gitopsv1.Customizer{aged("a", "", 1)}, want: customizer.FirstAccount},
		"the younger one":                       {self: aged("a", "", 1), others: []gitopsv1.Customizer{aged("b", "", 2)}, want: "cozystack-customizer-a"},
		"of the same age, by name":              {self: aged("a", "", 1), others: []gitopsv1.Customizer{aged("b", "", 1)}, want: customizer.FirstAccount},
		"of the same age, the other one":        {self: aged("b", "", 1), others: []gitopsv1.Customizer{aged("a", "", 1)}, want: "cozystack-customizer-b"},
		"it is kept":                            {self: aged("a", "cozystack-customizer-a", 5), want: "cozystack-customizer-a"},
		"the first stays the first":             {self: aged("a", customizer.FirstAccount, 1), others: []gitopsv1.Customizer{aged("b", "", 9)}, want: customizer.FirstAccount},
		"another has it already":                {self: aged("b", "", 9), others: []gitopsv1.Customizer{aged("a", customizer.FirstAccount, 1)}, want: "cozystack-customizer-b"},
		"a later one leaves the first free":     {self: aged("b", "", 1), others: []gitopsv1.Customizer{aged("a", "cozystack-customizer-a", 9)}, want: customizer.FirstAccount},
		"one that is deleted waits for nothing": {self: aged("b", "", 1), others: []gitopsv1.Customizer{deleted}, want: customizer.FirstAccount},
		"what was stamped for another stays so": {self: aged("b", "", 1), owner: "a", want: "cozystack-customizer-b"},
		"what was stamped for it is its own":    {self: aged("b", "", 1), owner: "b", others: []gitopsv1.Customizer{aged("a", "", 9)}, want: customizer.FirstAccount},
	} {
		t.Run(name, func(t *testing.T) {
			if got := customizer.Account(&tc.self, append(tc.others, tc.self), tc.owner); got != tc.want {
				t.Errorf("account %s, want %s", got, tc.want)
			}
		})
	}
}

// TestNoTwoHaveOneAccount: Customizers come and go in any order, and each asks in any order; what
// was stamped for a first one may outlast it.
func TestNoTwoHaveOneAccount(t *testing.T) {
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 3))
		var all []gitopsv1.Customizer
		owner := ""
		for step := range 30 {
			switch random.IntN(4) {
			case 0:
				all = append(all, aged(fmt.Sprint("c", step), "", random.IntN(5)))
			case 1:
				if len(all) > 0 {
					at := random.IntN(len(all))
					if all[at].Status.Account == customizer.FirstAccount && random.IntN(2) == 0 {
						// Its service account is gone as well.
						owner = ""
					}
					all = append(all[:at], all[at+1:]...)
				}
			default:
				if len(all) > 0 {
					self := &all[random.IntN(len(all))]
					self.Status.Account = customizer.Account(self.DeepCopy(), all, owner)
					if self.Status.Account == customizer.FirstAccount && owner == "" {
						owner = self.Name
					}
				}
			}
			seen := map[string]string{}
			for _, c := range all {
				if other, taken := seen[c.Status.Account]; taken && c.Status.Account != "" {
					t.Fatalf("seed %d: %s and %s have the account %s", seed, other, c.Name, c.Status.Account)
				}
				seen[c.Status.Account] = c.Name
				if c.Status.Account == customizer.FirstAccount && owner != "" && owner != c.Name {
					t.Fatalf("seed %d: %s has the account that was stamped for %s", seed, c.Name, owner)
				}
			}
		}
	}
}

// TestExtraRoleIsNoAccount: no name of a Customizer leads to the name of another one's extra role.
func TestExtraRoleIsNoAccount(t *testing.T) {
	if got := customizer.ExtraRole("cozystack-customizer-a"); got != "cozystack-customizer-a:extra" {
		t.Errorf("the role is called %s", got)
	}
}
