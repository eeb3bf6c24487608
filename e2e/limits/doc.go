// Package limits tries what bounds the burden that a tenant can be: the size of what is
// fetched, by the real source-controller, and the number of controllers.
package limits
