# gitops-operator. `make help` lists the targets.

SHELL := /bin/bash -o pipefail

# Everything is Go: no C compiler is asked for, and what is built runs in an empty image.
export CGO_ENABLED := 0

# The demo's kind of cluster: embedded or kind. KEEP=1 leaves a kind cluster at the end.
CLUSTER ?= embedded
KEEP ?=
# How long "make fuzz" looks.
FUZZTIME ?= 60s
# The operator's image, for "make image".
IMAGE ?=
PUSH ?=

.PHONY: help
help: ## List the targets.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "%-17s %s\n", $$1, $$2}'

.PHONY: demo
demo: ## Show it: a tenant whose repository is applied (CLUSTER=kind for real pods).
	@go build -o bin/demo ./e2e/demo
	@exec bin/demo -cluster=$(CLUSTER) -keep=$(if $(KEEP),true,false)

.PHONY: test
test: ## Run all tests, end-to-end ones included.
	@hack/test all

.PHONY: test-embedded
test-embedded: ## Run the tests that need no kind cluster.
	@hack/test embedded

.PHONY: test-kind
test-kind: ## Run the tests on a kind cluster.
	@hack/test kind

.PHONY: fuzz
fuzz: ## Look for what runs as another tenant, does not leave with git, or is stored otherwise (FUZZTIME=).
	go test -run '^$$' -fuzz FuzzNothingRunsAsAnother -fuzztime=$(FUZZTIME) ./internal/admission
	go test -run '^$$' -fuzz FuzzStoredIsLastManifestAndOthersFieldsAndDefaults -fuzztime=$(FUZZTIME) ./internal/removal
	go test -run '^$$' -fuzz FuzzAnnotation -fuzztime=$(FUZZTIME) ./internal/removal
	go test -run '^$$' -fuzz FuzzAnySpec -fuzztime=$(FUZZTIME) ./internal/removal
	go test -run '^$$' -fuzz FuzzMerge -fuzztime=$(FUZZTIME) ./internal/merge
	go test -run '^$$' -fuzz FuzzDigest -fuzztime=$(FUZZTIME) ./internal/packages

.PHONY: bench
bench: ## Measure how long the admission webhook takes, at 200 requests a second.
	go run ./bench/webhook

.PHONY: lint
lint: ## Check the code with gofmt, go vet and golangci-lint.
	@hack/lint

.PHONY: gofmt
gofmt: ## Format the code.
	gofmt -w -s api bench cmd controllers e2e internal templates

.PHONY: generate
generate: ## Generate deepcopy functions, CRDs and roles.
	@hack/generate

.PHONY: verify-generated
verify-generated: ## Fail if what is generated is not what lies in the tree.
	@hack/verify-generated

.PHONY: build
build: ## Build the operator into bin/.
	go build -trimpath -ldflags='-s -w' -o bin/gitops-operator ./cmd/gitops-operator

.PHONY: image
image: build ## Build the operator's image, IMAGE, and push it with PUSH=1.
	@test -n "$(IMAGE)" || { echo "name the image: make image IMAGE=registry/name:tag" >&2; exit 2; }
	docker build -t $(IMAGE) .
	$(if $(PUSH),docker push $(IMAGE))

.PHONY: programs
programs: ## Build all programs that tests and demo run, into the cache outside the tree.
	@go run ./e2e/programs/build

.PHONY: clean
clean: ## Remove what was built in the tree; the cache outside of it stays.
	rm -rf bin
