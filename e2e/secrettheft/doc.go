// Package secrettheft points every field that can name a Secret at one that the tenant
// cannot see, and looks for its content at a server of the thief's, in every object, in
// every log. A field that is not in its tables fails the test, so that a newer Flux brings
// no way in unnoticed.
package secrettheft
