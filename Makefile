# fleet: make demo shows it, make test proves it.
GO ?= go
BIN := bin/fleet
E2E_PAGE = FLEET_E2E_AXE="$$(./.ci/agent "$(CACHE)" axe)" $(GO) test -tags e2e -count=1 ./internal/web
CACHE ?= .cache
LINT_VERSION := v2.12.2
LINT := $(CACHE)/golangci-lint-$(LINT_VERSION)
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null)
LDFLAGS := -s -w -X fleet/cmd.version=$(VERSION)

.PHONY: build install demo test check lint e2e screenshots bench fmt race fuzz deps test-deps e2e-deps clean

build: ## build bin/fleet
	@CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/fleet

install: ## install fleet into GOBIN
	CGO_ENABLED=0 $(GO) install -trimpath -ldflags '$(LDFLAGS)' ./cmd/fleet

deps: ## tmux and git, installed where they are missing
	@./.ci/deps

test-deps: ## and PostgreSQL
	@./.ci/deps test

e2e-deps: ## and Chromium
	@./.ci/deps e2e

demo: deps build ## five tasks, three workers, one denied write, nothing lost
	@$(BIN) demo

test: test-deps ## the whole test suite
	$(GO) test -timeout 30m ./...

# Every process with the race detector in it sleeps a second at its end, unless it is told not to,
# and the tests start thousands. What keeps the machine busy for minutes wants it for itself.
race: export GORACE = atexit_sleep_ms=0
race: test-deps
	$(GO) test -race -timeout 30m $$($(GO) list ./... | grep -v -e /internal/chaos -e /internal/master)
	$(GO) test -race -timeout 30m -p 1 ./internal/chaos ./internal/master

lint: $(LINT) ## golangci-lint, which also holds the arrows between packages
	@$(GO) mod tidy -diff
	$(LINT) run ./...

$(LINT):
	@mkdir -p $(CACHE)/lint
	GOBIN="$$(cd $(CACHE)/lint && pwd)" $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	@mv $(CACHE)/lint/golangci-lint $(LINT)

check: lint build race ## lint, build, tests with the race detector

e2e: e2e-deps build ## real Claude Code, Codex and opencode, offline against a scripted API, and the page in a real Chromium
	@FLEET_E2E_CLAUDE="$$(./.ci/agent "$(CACHE)" claude)" FLEET_E2E_CODEX="$$(./.ci/agent "$(CACHE)" codex)" FLEET_E2E_OPENCODE="$$(./.ci/agent "$(CACHE)" opencode)" $(GO) test -tags e2e -count=1 ./internal/e2e ./internal/scriptapi
	@$(E2E_PAGE)

screenshots: e2e-deps ## the pictures of the page in docs
	@FLEET_SCREENSHOTS=$(CURDIR)/docs $(E2E_PAGE) -run TestScreenshots

bench: build ## ratios, measured in one run
	@$(GO) test -c -o bin/bench.test ./internal/bench
	@bin/bench.test -fleet $(BIN)
	@$(GO) test ./roster -run '^$$' -bench Schedule -benchtime 20x

fuzz: ## each fuzzer for half a minute
	@./.ci/fuzz 30s

fmt: $(LINT)
	$(LINT) fmt ./...

clean:
	rm -rf bin .cache
