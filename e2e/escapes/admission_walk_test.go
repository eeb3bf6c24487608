package escapes_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/cozystack/gitops-operator/e2e/attempts"
	"github.com/cozystack/gitops-operator/internal/operator"
)

// answer is what becomes of an escape where it is written.
type answer string

const (
	// passed: it is stored as it was written.
	passed answer = "passed"
	// harmless: it is stored, and the escape was taken out of it.
	harmless  answer = "harmless"
	byWebhook answer = "webhook"
	byPolicy  answer = "policy"
	bySchema  answer = "schema"
	byRoles   answer = "roles"
)

// admissionTry is an escape by what is written.
type admissionTry struct {
	good    *unstructured.Unstructured
	attempt attempts.Attempt
	// created: it is no matter of changing what is there. changed: nor of creating it.
	created, changed bool
}

// admissionState is which layers of admission are on.
type admissionState struct{ webhooks, policies bool }

// admissionStates are all four.
var admissionStates = []admissionState{{true, true}, {false, true}, {true, false}, {false, false}}

// people are those of a tenant who may write the most: one in the group of its admins,
// and its own account.
func people(t *testing.T, tenant string) []client.Client {
	t.Helper()
	person, err := cluster.UserConfig("alice", tenant+"-admin")
	if err != nil {
		t.Fatal(err)
	}
	account := rest.CopyConfig(cluster.Config)
	account.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + tenant + ":" + tenant,
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:" + tenant, "system:authenticated"},
	}
	var clients []client.Client
	for _, config := range []*rest.Config{person, account} {
		made, err := client.New(config, client.Options{Scheme: operator.Scheme()})
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, made)
	}
	return clients
}

// answerTo says what came of a write.
func answerTo(written *unstructured.Unstructured, change attempts.Change, err error) (answer, error) {
	switch {
	case apierrors.IsAlreadyExists(err), err == nil && change.Holds(written):
		// What is there already comes after all that could refuse it.
		return passed, nil
	case err == nil:
		return harmless, nil
	case strings.Contains(err.Error(), "ValidatingAdmissionPolicy"):
		return byPolicy, nil
	case strings.Contains(err.Error(), "admission webhook"):
		return byWebhook, nil
	case apierrors.IsInvalid(err):
		return bySchema, nil
	case apierrors.IsForbidden(err):
		return byRoles, nil
	}
	return "", err
}

// writeEach writes every escape in every way, by the one and by the other of the people,
// and returns the weakest answer to each: one way that passes is an escape.
func writeEach(t *testing.T, who []client.Client, tries []admissionTry) []answer {
	t.Helper()
	answers := make([]answer, len(tries))
	next := make(chan int)
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() {
			for i := range next {
				answers[i] = weakest(t, who, tries[i])
			}
		})
	}
	for i := range tries {
		next <- i
	}
	close(next)
	group.Wait()
	return answers
}

func weakest(t *testing.T, who []client.Client, try admissionTry) answer {
	var worst answer
	for i, way := range attempts.Ways {
		if try.created && (way.Name == "update" || way.Name == "patch") || try.changed && way.Name == "create" {
			continue
		}
		written, err := way.Write(context.Background(), who[i%len(who)], try.good, try.attempt.Change)
		got, err := answerTo(written, try.attempt.Change, err)
		if err != nil {
			t.Errorf("%s, by %s: %v", describe(try), way.Name, err)
			return passed
		}
		if worst == "" || got == passed {
			worst = got
		}
	}
	return worst
}

func describe(try admissionTry) string {
	return fmt.Sprintf("%s: %s", try.good.GetKind(), try.attempt.Name)
}
