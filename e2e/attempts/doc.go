// Package attempts lists what people of a tenant might write to get past the operator, as
// changes of objects that are all right, and the ways to write them. e2e/isolation looks
// at the sentence by which each is refused, e2e/escapes at how many layers refuse it.
package attempts
