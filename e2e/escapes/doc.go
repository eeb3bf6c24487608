// Package escapes tries everything that a tenant must not be able to do, with all layers
// that stand in the way, with each of them off, and with each of them alone, and compares
// what is closed by what with testdata/matrix.golden.
//
// What a tenant writes comes to the API server first: the webhooks, the policies, the
// kind's own schema and the roles of the tenant's people can refuse it there. What gets
// past all of them, here by an admin's hand, is judged by the tenant's own controller,
// with its flags and with the roles of its account and of git's, by what comes of it.
package escapes
