// Package customizer tests what becomes of Customizers, with the real Flux beside a real API
// server.
package customizer
