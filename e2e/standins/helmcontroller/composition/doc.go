// Package composition holds the operator's merge of values against that of Helm and Flux:
// what a chart sees is the same whether the override is one more layer of theirs or is
// merged into the Package's values before.
package composition
