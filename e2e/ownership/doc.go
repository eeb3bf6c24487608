// Package ownership tries, on a real API server with the real Flux, whose an application
// is when more than one source of real repositories could have it: sources that contend
// for it, files that move, and what is left when a source goes.
package ownership
