// Package namespacedeletion holds the test that deletes namespaces of tenants in great
// number. It takes minutes, most of them waiting, so it runs beside the others of the
// reconciler on a cluster of its own.
package namespacedeletion
