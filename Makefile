# What a developer types. `make run` and `make test` are the two to know.

GO ?= go
# A checkout without version control must build too.
export GOFLAGS := $(strip $(filter-out -buildvcs=false,$(GOFLAGS)) -buildvcs=false)

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build
.NOTPARALLEL:

# The program names its commit when there is one to name.
STAMP := $(shell git rev-parse -q --verify HEAD >/dev/null 2>&1 && echo -buildvcs=true)

# Starts a throw-away PostgreSQL cluster, runs the command on it, stops it. It
# finds the server's binaries, or installs them by package name when it is root.
WITHPG := $(GO) run ./internal/pgtest/cmd/withpg --

TESTS     ?= ./...
# The stories wait more than they compute, so more of them run than there are processors.
TESTFLAGS ?= -p 2 -parallel 4 -timeout 18m
# SQLite is some thirty times slower under the race detector, so it is run on
# the packages where goroutines meet without much of a database. Those left out start
# none, and have tests that are slow because of theirs.
RACE      ?= ./internal/base/... ./internal/job/... ./internal/web/... \
	$(shell $(GO) list ./internal/domain/... | grep -vE '/domain/(amend|delivery|notify|plan)$$')
FUZZTIME  ?= 10s

# What is proven: see docs/reliability.md.
PROVE     ?= --renewals 100000 --faults 10000

.PHONY: build run test race bench mutants fuzz calendar prove check fmt vet lint verify generate clean compiler

build: ## the program, without cgo
	CGO_ENABLED=0 $(GO) build $(STAMP) -trimpath -o bin/perennial ./cmd/perennial

run: build ## a working store on this machine; ARGS="--empty" and the like
	bin/perennial sandbox $(ARGS)

test: ## the whole suite on SQLite and PostgreSQL; TESTS=./internal/domain/... for a part
	$(WITHPG) $(GO) test $(TESTFLAGS) $(TESTS)

race: compiler ## the chosen packages under the race detector
	$(WITHPG) env CGO_ENABLED=1 $(GO) test -race $(TESTFLAGS) $(RACE)

bench: build ## prints lines BENCH <name> key=value …; ARGS="renewals" for some
	$(WITHPG) $(GO) run ./test/bench $(ARGS)

mutants: ## takes each guard out and looks whether the tests notice; ARGS="-only fence" for some
	$(WITHPG) $(GO) run ./test/mutate -table docs/mutants.md $(ARGS)

fuzz: ## every fuzz target for FUZZTIME
	@grep -rlE --include='*_test.go' '^func Fuzz' . | xargs -r -n1 dirname | sort -u | while read -r dir; do \
		for target in $$(grep -hoE '^func Fuzz[A-Za-z0-9_]*' "$$dir"/*_test.go | cut -c6-); do \
			echo "$$dir $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "$$dir"; \
		done; \
	done

calendar: ## every day of every zone for forty years, at several order times
	$(GO) test -timeout 30m ./internal/domain/cadence ./internal/domain/cadence/vectors -exhaustive

prove: build ## the billing engine through simulated years under faults; PROVE="--renewals 5000 --seed 7" for others
	bin/perennial prove $(PROVE) --out bin/proof.md

check: fmt vet lint verify test race prove ## all that must hold before a change is done

fmt:
	@files=$$(gofmt -l .); if [ -n "$$files" ]; then echo "gofmt -w these:"; echo "$$files"; exit 1; fi

vet:
	$(GO) vet ./...

lint: bin/golangci-lint
	GOLANGCI_LINT_CACHE=$(CURDIR)/bin/lint-cache bin/golangci-lint run ./...

bin/golangci-lint: tools/go.mod tools/go.sum
	$(GO) -C tools build -o ../bin/golangci-lint github.com/golangci/golangci-lint/v2/cmd/golangci-lint

# Lists the generated files with their checksums.
GENERATED := { grep -rlE --include='*.go' '^// Code generated .* DO NOT EDIT\.$$' internal cmd client; find api -type f 2>/dev/null || true; } | sort | xargs -r sha256sum

verify: ## generated files are fresh, the module files tidy, the libraries unaltered
	@before=$$($(GENERATED)); $(MAKE) --no-print-directory generate; after=$$($(GENERATED)); \
	if [ "$$before" != "$$after" ]; then echo "generated files were not fresh; they are now, commit them:"; diff <(echo "$$before") <(echo "$$after") || exit 1; fi
	$(GO) mod tidy -diff
	$(GO) mod verify
	$(GO) -C tools mod verify

generate: ## everything that is made from something else
	$(GO) generate ./...

clean:
	rm -rf bin

# The race detector is the one thing here that needs a C compiler.
compiler:
	@if ! command -v cc >/dev/null && ! command -v gcc >/dev/null; then \
		if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then \
			echo "the race detector needs a C compiler: install gcc, then run this again"; exit 1; \
		fi; \
		apt-get update -q && apt-get install -qy gcc libc6-dev; \
	fi
