// Package unserved tries PackageValues on a real API server that serves no Packages.
package unserved
