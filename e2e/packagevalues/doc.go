// Package packagevalues tries PackageValues on a real API server, beside stand-ins for the
// platform's operator of packages and for helm-controller.
package packagevalues
