# What a developer types. `make run` and `make test` are the two to know.

GO ?= go
# A checkout without version control must build too, and one in another folder finds
# what was compiled in the cache.
export GOFLAGS := $(strip $(filter-out -buildvcs=false -trimpath,$(GOFLAGS)) -buildvcs=false -trimpath)

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build
.NOTPARALLEL:

# The program names its commit when there is one to name.
STAMP := $(shell git rev-parse -q --verify HEAD >/dev/null 2>&1 && echo -buildvcs=true)

# Starts a throw-away PostgreSQL cluster, runs the command on it, stops it. It
# finds the server's binaries, or installs them by package name when it is root.
WITHPG := $(GO) run ./test/withpg
# The same, with the temporary files of tests in memory: their databases need not survive a crash.
QUICKPG := $(GO) run ./test/withpg -tests
# Tools of development, pinned in tools/go.mod.
TOOL   := $(GO) tool -modfile=tools/go.mod

TESTS     ?= ./...
# The stories wait now and then, so more of them run than there are processors. The limit
# is for what hangs: the slowest package needs a fifth of it.
# What go vet says, make lint says with all its analyzers.
TESTFLAGS ?= -vet=off -p 2 -parallel 4 -timeout 30m
# Memory of most tests is small, so that it may grow further before it is collected, up to a limit.
TESTENV   := env GOGC=400 GOMEMLIMIT=1500MiB
# The race detector runs on the packages whose code or tests name goroutines, locks or atomic
# values: linking a test with it takes seconds, and elsewhere nothing meets. SQLite is some thirty
# times slower under it, so those are left out whose tests are slow because of theirs.
MEETING   := \bgo func|\.Go\(func|\bsync\.[A-Z]|\batomic\.[A-Z]
RACE      ?= $(shell grep -rlE '$(MEETING)' --include='*.go' internal/base internal/deliver internal/domain internal/job internal/platform/shopify internal/web \
	| xargs -n1 dirname | sort -u | grep -vE '/(admin|connection|login|staff)$$|/cadence/|/dashboard/' | sed 's|^|./|')
# `make soak` runs it on those too that name none.
RACE_LONG = ./internal/base/... ./internal/deliver/... ./internal/job/... ./internal/platform/shopify/... \
	$(shell $(GO) list ./internal/web/... | grep -v '/web/dashboard') \
	$(shell $(GO) list ./internal/domain/... | grep -vE '/domain/(amend|cadence|cadence/.*|connection|delivery|notify|plan|staff)$$')
FUZZTIME  ?= 10s

# What is proven: see docs/reliability.md. `make check` and `make soak` say how much.
RENEWALS  ?= 10000
PROVE     ?= --renewals $(RENEWALS) --faults $(shell expr $(RENEWALS) / 10)

.PHONY: help build run test watch race bench mutants fuzz calendar prove check budget audits soak screenshots release fmt lint verify generate clean compiler browser

help: ## what this file can do
	@sed -nE 's/^([a-z]+):[^#]*## (.*)/\1\t\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 12

build: ## the program, without cgo
	CGO_ENABLED=0 $(GO) build $(STAMP) -o bin/perennial ./cmd/perennial

run: build ## a working store on this machine; ARGS="--empty" and the like
	bin/perennial sandbox --kinds $(ARGS)

test: browser ## the tests on SQLite and PostgreSQL; TESTS=./internal/domain/... for a part
	$(if $(filter ./...,$(TESTS)),$(GO) -C client test ./...)
	@mkdir -p bin
	$(QUICKPG) $(TESTENV) $(TOOL) gotestsum --format pkgname --hide-summary=skipped --jsonfile $(CURDIR)/bin/tests.json -- $(TESTFLAGS) $(TESTS)

watch: browser ## runs the tests of a package whenever it changes; TESTS=./internal/domain/... for a part
	$(WITHPG) $(TOOL) gotestsum --watch --format pkgname --packages "$(TESTS)" -- $(TESTFLAGS)

race: compiler ## the chosen packages under the race detector
	$(QUICKPG) $(TESTENV) CGO_ENABLED=1 $(GO) test -race $(TESTFLAGS) $(RACE)

bench: build ## prints lines BENCH <name> key=value …; ARGS="renewals" for some
	$(WITHPG) $(GO) run ./test/bench $(ARGS)

mutants: ## takes each guard out and looks whether the tests notice; ARGS="-only fence" for some
	$(WITHPG) $(GO) run ./test/mutate -table docs/generated/mutants.md $(ARGS)

fuzz: ## every fuzz target for FUZZTIME
	@grep -rlE --include='*_test.go' '^func Fuzz' . | xargs -r -n1 dirname | sort -u | while read -r dir; do \
		for target in $$(grep -hoE '^func Fuzz[A-Za-z0-9_]*' "$$dir"/*_test.go | cut -c6-); do \
			echo "$$dir $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x "$$dir"; \
		done; \
	done

calendar: ## every day of every zone for forty years, at several order times
	$(GO) test -timeout 30m ./internal/domain/cadence ./internal/domain/cadence/vectors -exhaustive

prove: build ## the billing engine through simulated years under faults; RENEWALS=1000000 for a long run
	bin/perennial prove $(PROVE) --out bin/proof.md

check: ## all that must hold before a change is done; ends with what it cost, beside the budget
	$(GO) run ./test/check fmt lint verify test race prove

# The steps whose costs have a budget.
STEPS     ?= test race prove

budget: ## writes what the check costs now into its budget; REASON="what needs more, and why"
	$(if $(REASON),,$(error say why: make budget REASON="what needs more, and why"))
	TESTFLAGS='$(TESTFLAGS) -count=1' $(GO) run ./test/check -update '$(REASON)' $(STEPS)

audits: browser ## audits the pages that changed, and renews the list of those that were audited
	$(TESTENV) $(GO) test ./test/pages -count=1 -timeout 30m -parallel 4 -args -renew

soak: compiler browser ## what takes longer than a check; RENEWALS=1000000 for a long run
	$(WITHPG) $(GO) run ./test/soak -renewals $(if $(filter file,$(origin RENEWALS)),100000,$(RENEWALS)) $(ARGS)

screenshots: browser ## the pictures of the README, into docs/images
	$(GO) test ./test/pages -count=1 -run '^TestScreenshotsOfReadme$$' -screenshots $(CURDIR)/docs/images

release: ## archives for every system, their lists of modules, and checksums, in dist
	$(GO) run ./internal/release

fmt:
	@files=$$(gofmt -l .); if [ -n "$$files" ]; then echo "gofmt -w these:"; echo "$$files"; exit 1; fi

# The linters look at a copy whose place is the same for every checkout, so that a fresh one
# finds in the cache what another has looked at.
lint:
	$(GO) run ./test/words
	$(GO) run ./test/lint

# Lists the generated files with their checksums.
GENERATED := { grep -rlE --include='*.go' '^// Code generated .* DO NOT EDIT\.$$' internal cmd client; find api -type f 2>/dev/null || true; } | sort | xargs -r sha256sum

verify: ## generated files are fresh, the module files tidy, the libraries unaltered
	@before=$$($(GENERATED)); $(MAKE) --no-print-directory generate; after=$$($(GENERATED)); \
	if [ "$$before" != "$$after" ]; then echo "generated files were not fresh; they are now, commit them:"; diff <(echo "$$before") <(echo "$$after") || exit 1; fi
	$(GO) mod tidy -diff
	$(GO) -C client mod tidy -diff
	$(GO) mod verify
	$(GO) -C tools mod verify

generate: ## everything that is made from something else
	$(GO) generate ./...

clean:
	rm -rf bin dist

# The tests of pages need a browser. Tests that look at no page do not. Chromium without what draws its
# windows takes half the processor time for them, so root gets it in addition to another browser, if it can
# be installed.
APT     := apt-get -q -o Acquire::Retries=0 -o Acquire::http::Timeout=20
INSTALL := DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends
browser:
	@has() { command -v $$1 >/dev/null; }; \
	if has chromium-headless-shell || ! $(GO) list -test -deps $(TESTS) | grep /internal/browsertest$$ >/dev/null; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && has apt-get; then \
		echo "The tests of pages need a browser. Installing the packages chromium-headless-shell and fonts-dejavu-core with apt-get."; \
		$(APT) update; $(INSTALL) chromium-headless-shell fonts-dejavu-core || \
			has chromium || has google-chrome || $(INSTALL) chromium fonts-dejavu-core; \
	elif ! has chromium && ! has google-chrome; then \
		echo "the tests of pages need a browser: install chromium, then run this again"; exit 1; \
	fi

# The race detector is the one thing here that needs a C compiler.
compiler:
	@if ! command -v cc >/dev/null && ! command -v gcc >/dev/null; then \
		if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then \
			echo "the race detector needs a C compiler: install gcc, then run this again"; exit 1; \
		fi; \
		echo "The race detector needs a C compiler, which is not installed on this machine. Installing the packages gcc and libc6-dev with apt-get."; \
		apt-get update -q && apt-get install -qy gcc libc6-dev; \
	fi
