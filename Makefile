# gitops-operator. `make help` lists the targets.

SHELL := /bin/bash -o pipefail
PROGRAM = go run ./e2e/programs/build -path

.PHONY: help
help: ## List the targets.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "%-12s %s\n", $$1, $$2}'

.PHONY: generate
generate: ## Generate deepcopy functions, CRDs and roles.
	./hack/generate

.PHONY: build
build: ## Build the operator into bin/.
	CGO_ENABLED=0 go build -trimpath -o bin/gitops-operator ./cmd/gitops-operator

