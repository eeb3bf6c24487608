// Package confinement walks through what a thief of the operator's token could try,
// on a real API server: what its roles refuse, what the policies of config/policies
// refuse, and what remains open.
package confinement
