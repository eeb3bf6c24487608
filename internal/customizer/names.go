// Package customizer computes what a Customizer stands for in the cluster, and what is to be
// told of it: pure functions from a snapshot. It has no client and reads no clock.
package customizer

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	gitopsv1 "github.com/cozystack/gitops-operator/api/gitops/v1alpha1"
)

const (
	// FirstAccount is what all is called that is stamped for a cluster's first Customizer.
	FirstAccount = "cozystack-customizer"
	// laterPrefix begins the names of what is stamped for each other one.
	laterPrefix = FirstAccount + "-"
	// Label leads from a stamped object to its Customizer.
	Label = "gitops.cozystack.io/customizer"
	// Finalizer keeps a Customizer until what was stamped for it is gone.
	Finalizer = "gitops.cozystack.io/customizer"
)

// Account is the name of all that is stamped for a Customizer. It is decided once, and then
// kept in the status, so that no Customizer ever takes over the account of another one. The
// first of a cluster, by age and then by name, has FirstAccount, if nobody has that yet: not in
// its status, and, as firstOwner says, not by the label of the service account that is there.
//
// all are the cluster's Customizers as the API server has them now.
func Account(self *gitopsv1.Customizer, all []gitopsv1.Customizer, firstOwner string) string {
	if self.Status.Account != "" {
		return self.Status.Account
	}
	own := laterPrefix + self.Name
	if firstOwner != "" {
		if firstOwner == self.Name {
			return FirstAccount
		}
		return own
	}
	waiting := []*gitopsv1.Customizer{self}
	for i := range all {
		other := &all[i]
		switch {
		case other.UID == self.UID:
		case other.Status.Account == FirstAccount:
			return own
		case other.Status.Account == "" && other.DeletionTimestamp.IsZero():
			waiting = append(waiting, other)
		}
	}
	first := slices.MinFunc(waiting, func(a, b *gitopsv1.Customizer) int {
		return cmp.Or(compareTimes(a.CreationTimestamp, b.CreationTimestamp), cmp.Compare(a.Name, b.Name))
	})
	if first == self {
		return FirstAccount
	}
	return own
}

func compareTimes(a, b metav1.Time) int { return a.Compare(b.Time) }

// ExtraRole is the ClusterRole, and its binding, of an account's extra rules. No account can be
// called so.
func ExtraRole(account string) string { return account + ":extra" }
