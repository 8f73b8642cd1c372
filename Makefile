# All set-up stays in this folder: programs in .tools, Python packages in .venv, other
# builds in .cache. Each part of it depends only on the files that determine it.

.DEFAULT_GOAL := help
SHELL := bash

# Neither flag changes a compiled package. A container's mount has no readable version control.
export GOFLAGS := -buildvcs=false -vet=off
export GOWORK := off

# The user's other variables do not reach set-up, except mirrors and proxies.
unexport GOOS GOARCH GOEXPERIMENT $(filter-out PYTHON %URL %HOST %CERT %PROXY,$(filter PYTHON% PIP_%,$(.VARIABLES)))

# At the third level of amd64 the compiler multiplies and adds with one rounding.
export GOAMD64 := v1

# Selects the steps that are retrained today, and so ends Go's cache of test results daily.
export REPLAY_DAY ?= $(shell echo $$(($$(date +%s) / 86400)))
export FRESH

PYTHON ?= python3
export PYTHON
PY     := .venv/bin/python
SITEPY := .tools/web/bin/python
PIP    := -m pip --disable-pip-version-check --quiet install --no-user --require-hashes --only-binary :all: --no-compile

# Builds the command. Its version names the commit, where git knows it.
PAPER = commit=$$(git describe --always --dirty 2>/dev/null); \
	go build -ldflags "$${commit:+-X main.commit=$$commit}" -o .tools/bin/ ./cmd/paper

help:
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# --- the two commands ---
reproduce: setup ## execute the notebooks, write figures/, print the table of results; FRESH=1 retrains every run
	$(if $(FRESH),go run ./cmd/paper train --fresh)
	$(PY) tools/notebook.py run
	go run ./cmd/paper export

# Most parts wait or end on one core, so two at a time fill two cores; the longest come first.
PARTS := unit notebooks page static systems tools latex

# More memory for compilers, linkers and tests, and less time.
test: export GOGC := 400
test: ## everything that must hold, in about 11 minutes
	@echo 'make test: $(PARTS), two at a time'
	@$(MAKE) --no-print-directory --jobs=2 $(PARTS)
	@bash tools/checked.sh

# --- for readers ---
paper: ready ## build the command into .tools/bin, and print the lines for PATH and completion
	@echo 'Building .tools/bin/paper, up to a minute the first time'
	@$(PAPER)
	@printf 'Lines for your shell:\n  export PATH=%q:"$$PATH"\n' "$$PWD/.tools/bin"
	@echo '  source <(paper completion bash)    # or zsh, fish, powershell'

lab: setup .tools/lab ## open the notebooks in JupyterLab; LABFLAGS are its flags
	$(PY) tools/notebook.py lab $(LABFLAGS)

class: setup ## copy the notebooks into the new folder class, or FOLDER=, without the answers of the exercises
	$(PY) tools/notebook.py class $(or $(FOLDER),class)

verify: ready ## check all statements, write claims.json and CLAIMS.md; IDS='"Lemma 16"', QUICK=1, ACCEPT=1
	go run ./cmd/paper verify $(if $(QUICK),--quick) $(if $(ACCEPT),--accept) $(IDS)

errata: ready ## typeset the letter of corrections and its supplement
	go run ./cmd/paper export errata supplement

train: ready ## train the paper's runs that are not stored; FRESH=1 all of them
	go run ./cmd/paper train $(if $(FRESH),--fresh)

site: .tools/site ## build the site in .cache/site: notebooks that run in the page, ledger, gallery
	$(SITEPY) web/site/build.py .cache/site --lab $(if $(REPOSITORY),--repository '$(REPOSITORY)')
	$(call lab,19,.cache/site/lab)
	@echo 'python3 -m http.server --directory .cache/site shows it at http://localhost:8000'

# Builds JupyterLite with the notebooks. The tag omits formats of gonum/plot that no cell shows.
define lab
	@rm -rf $(2) .cache/.jupyterlite*; $(SITEPY) web/hatch_build.py .cache/gokernel $(1)
	cd .cache && GOFLAGS='$(GOFLAGS) -tags=minimal' JUPYTERLITE_CACHE_DIR="$$PWD/web" PYTHONWARNINGS=ignore \
	../$(SITEPY) -m jupyterlite_core build --lite-dir ../web/lite --output-dir ../$(2) --GoKernel.level=$(1) \
	--GoKernel.links={CLAIMS.md=../ledger.html,figures/errata.pdf=../figures/errata.pdf,figures/supplement.pdf=../figures/supplement.pdf,'*=$(if $(REPOSITORY),$(REPOSITORY)/*,../source/*.html)'} >/dev/null
endef
kernel: .tools/page ## build the kernel as a wheel for JupyterLite, in .cache/kernel
	cd web && ../$(SITEPY) -m hatchling build -t wheel -d ../.cache/kernel

clean: ## remove all set-up
	rm -rf .tools .venv .cache

# --- for contributors ---
quick: static ## static checks and the fast tests, in under a minute
	go test -short ./...
	@echo; echo '!!! NOT RUN, because they are slow (make test runs them):'
	@awk -F'"' '/^func Test/ { split($$0, name, /[ (]/) } /t.Skip\("slow/ { print "  " name[2] ", " $$2 }' \
		$$(find pkg internal paper cmd -name '*_test.go')

tidy: setup ## bring notebooks that another editor has saved into the stored form
	$(PY) tools/notebook.py tidy

# Before Go 1.27 fuzzing may end at its time with one line, as if it had failed (golang/go issue 75804).
fuzz: ready ## give damaged files to every reader, FUZZTIME=1m each; failures become test cases in testdata/fuzz
	@mkdir -p .cache
	@go test -list '^Fuzz' ./... | awk '/^Fuzz/ { names[++n] = $$1 } /^ok/ { while (n > 0) print $$2, names[n--] }' | \
	while read -r package name; do \
		go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(or $(FUZZTIME),1m) "$$package" 2>&1 | tee .cache/fuzz; \
		[ $${PIPESTATUS[0]} = 0 ] || grep -qx '    context deadline exceeded' .cache/fuzz || exit 1; \
	done

bench: setup ## measure a training step against a JAX peer, or against a version: AGAINST=commit
	$(if $(AGAINST),rm -rf .cache/against && mkdir -p .cache/against && git archive '$(AGAINST)' | tar -x -C .cache/against)
	$(if $(AGAINST),go -C .cache/against build -o ../bench-of-$(AGAINST) ./cmd/bench)
	$(if $(AGAINST),go run ./cmd/bench -against .cache/bench-of-$(AGAINST),bash cmd/bench/run.sh)

site-test: site kernel ## build the site, open it in browsers, and run every notebook there
	SITE="$$PWD/.cache/site" $(SITEPY) -m unittest discover --start-directory web/site
	$(SITEPY) -m unittest discover --start-directory web --pattern 'test_*.py'

test-slurm: ready ## run sweeps as job arrays in a local Slurm; needs root, slurm-wlm and munge
	bash tools/slurm.sh go test -count 1 ./cmd/paper -run Slurm -v

# --- the parts of make test ---
static: .tools/lint
	go vet ./...
	@faults=$$(.tools/bin/gofumpt -l pkg internal paper cmd web); [ -z "$$faults" ] || { echo "run gofumpt -w on:" $$faults; exit 1; }
	.tools/bin/staticcheck ./...
	.tools/bin/revive -set_exit_status -config tools/lint/revive.toml ./...

unit: ready
	go test -timeout 30m ./...

# Type-checks all packages and tests for other systems. Files for WebAssembly are vetted
# with the flags of web/gokernel, whose compiled packages vet then finds.
systems: .tools/lint
	.tools/bin/systems windows/amd64 darwin/arm64
	GOOS=js GOARCH=wasm go vet -trimpath -gcflags=all=-dwarf=false -tags=minimal ./...

# -count=1, because Go's cache of test results ignores files outside of a module.
tools: setup
	$(PY) -m unittest discover --start-directory tools
	go -C tools/simd vet . && go -C tools/simd test -count=1 .
	go -C web vet ./... && go -C web test -count=1 ./...

notebooks: setup
	$(PY) tools/notebook.py lint
	$(PY) tools/notebook.py check

# Some cells in Chromium, from a site that is compressed quickly.
CHROMIUM := $(shell command -v chromium)
page: $(if $(CHROMIUM),.tools/page)
	$(if $(CHROMIUM),$(call lab,1,.cache/slice))
	$(if $(CHROMIUM),LAB=.cache/slice $(SITEPY) -m unittest discover --start-directory web --pattern test_kernel.py -k test_a_slice -k TestPack)

latex:
	@bash tools/latex.sh

# --- set-up ---
ready:
	@bash tools/ready.sh

# What needs a network the first time ends with this.
DOWNLOADED := || { echo 'make: a download failed, see above; `make setup-all` downloads everything for work without a network' >&2; exit 1; }

setup-all: setup .tools/lint .tools/lab .tools/site ## download and set up everything but make bench, for work without a network
	@go -C web mod download $(DOWNLOADED)
	@go -C tools/simd mod download $(DOWNLOADED)

# GoNB builds a cell without a network, in a workspace that needs the go.mod of every
# module in the graph.
setup: .tools/kernel
	@go mod graph >/dev/null $(DOWNLOADED)
	@go build ./pkg/... ./paper/... && $(PAPER)

# The folder, Go and Python that the tools were built for.
.tools/where: FORCE
	@bash tools/ready.sh python
	@mkdir -p .tools
	@where="$$PWD $$(go env GOVERSION GOROOT | tr '\n' ' ') $$($(PYTHON) --version)" && \
		echo "$$where" | cmp -s - $@ || echo "$$where" >$@

# GoNB is built from a copy of its module, with a patch.
.tools/go: tools/go.mod tools/go.sum tools/gonb.patch .tools/where
	@echo 'Setting up (1 of 3): the Go kernel, half a minute the first time'
	@rm -rf .tools/gonb && cp -R "$$(go -C tools list -f '{{.Module.Dir}}' github.com/janpfeifer/gonb)" .tools/gonb $(DOWNLOADED)
	@chmod -R u+w .tools/gonb && cd .tools/gonb && git apply ../../tools/gonb.patch
	@cp tools/go.mod .tools/gonb/tools.mod && cp tools/go.sum .tools/gonb/tools.sum
	@go mod edit -replace=github.com/janpfeifer/gonb=../.tools/gonb .tools/gonb/tools.mod
	@GOBIN="$$PWD/.tools/bin" go -C tools install -modfile=../.tools/gonb/tools.mod github.com/janpfeifer/gonb golang.org/x/tools/cmd/goimports $(DOWNLOADED)
	@rm -rf .tools/gonb; touch $@

.tools/python: tools/requirements.txt .tools/where
	@rm -f .tools/lab
	@echo 'Setting up (2 of 3): Python, in .venv'
	@$(PYTHON) -m venv --clear .venv || { rm -rf .venv; echo 'python3 -m venv failed (on Debian it needs the package python3-venv)'; exit 1; }
	@$(PY) $(PIP) -r tools/requirements.txt $(DOWNLOADED)
	@touch $@

.tools/kernel: .tools/go .tools/python tools/notebook.py
	@echo 'Setting up (3 of 3): the library, half a minute the first time'
	@$(PY) tools/notebook.py kernel
	@touch $@

.tools/lint: tools/lint/go.mod tools/lint/go.sum tools/lint/systems/main.go .tools/where
	@echo 'Setting up the linters'
	@GOBIN="$$PWD/.tools/bin" go -C tools/lint install honnef.co/go/tools/cmd/staticcheck mvdan.cc/gofumpt github.com/mgechev/revive ./systems $(DOWNLOADED)
	@touch $@

.tools/lab: tools/requirements-lab.txt .tools/kernel
	@echo 'Setting up JupyterLab, and gopls, which completes names: a minute and a half'
	@$(PY) $(PIP) -r tools/requirements-lab.txt $(DOWNLOADED)
	@GOBIN="$$PWD/.tools/bin" go -C tools install golang.org/x/tools/gopls $(DOWNLOADED)
	@touch $@

.tools/page: web/requirements.txt web/pyproject.toml .tools/where
	@echo 'Setting up the notebooks in the page, in .tools/web: JupyterLite and its tests'
	@$(PYTHON) -m venv --clear .tools/web
	@$(SITEPY) $(PIP) -r web/requirements.txt $(DOWNLOADED)
	@$(SITEPY) -m pip --disable-pip-version-check --quiet install --no-build-isolation --no-deps --editable ./web
	@touch $@

.tools/site: web/site/requirements.txt .tools/page
	@echo 'Setting up the other pages of the site: Sphinx'
	@$(SITEPY) $(PIP) -r web/requirements.txt -r web/site/requirements.txt $(DOWNLOADED)
	@touch $@

FORCE:
.PHONY: help reproduce test paper lab class verify errata train site kernel clean quick tidy fuzz bench site-test test-slurm $(PARTS) ready setup setup-all
