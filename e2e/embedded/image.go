package embedded

import "strings"

// Tags that tests give to a controller's image, to see what becomes of the tenant.
const (
	// TagMissing is of an image that no registry has: ImagePullBackOff.
	TagMissing = "missing"
	// TagCrash is of a program that ends at once with code 1: CrashLoopBackOff.
	TagCrash = "crash"
	// TagOutOfMemory is of a program that is killed at once for want of memory.
	TagOutOfMemory = "oom"
)

// knownPrograms are those that an image of the same name stands for.
var knownPrograms = []string{kustomizeController, sourceController}

// programOf names the program that an image stands for, or "" for an unknown image.
func programOf(image string) string {
	repository, _ := splitImage(image)
	name := repository[strings.LastIndex(repository, "/")+1:]
	for _, program := range knownPrograms {
		if strings.Contains(name, program) {
			return program
		}
	}
	return ""
}

// splitImage cuts off the digest, and the tag, which a registry's port is not.
func splitImage(image string) (repository, tag string) {
	image, _, _ = strings.Cut(image, "@")
	if colon := strings.LastIndex(image, ":"); colon > strings.LastIndex(image, "/") {
		return image[:colon], image[colon+1:]
	}
	return image, ""
}
