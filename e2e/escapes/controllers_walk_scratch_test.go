package escapes_test

import "testing"

func TestScratchControllers(t *testing.T) {
	startControllers(t)
	s := newScenery(t)
	tries := controllerTries
	for _, o := range writtenThroughGit {
		tries = append(tries, o.try())
	}
	for name, r := range walkControllers(t, s, tries) {
		t.Log(name, r)
	}
	t.Log(walkForeignShard(t, s))
}
