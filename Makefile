# make help shows what there is. All set-up stays inside the repository, in
# .tools (Go programs), .venv (Python packages) and .cache (make bench); a second
# call is quick.

.DEFAULT_GOAL := help
# Only the parts of make test go side by side.
ifndef ABREAST
.NOTPARALLEL:
endif
SHELL := bash

# A checkout owned by somebody else (a container's mount) has no readable
# version control status, and nothing here needs one. What go test would have vet
# look for, static and the other parts look for with go vet. Without the folder of the
# checkout in them, packages are compiled and vetted once for all checkouts.
OURS := -buildvcs=false -vet=off -trimpath
export GOFLAGS := $(strip $(filter-out $(OURS),$(GOFLAGS)) $(OURS))
export FRESH

# What replays train again. In a variable, so that Go does not take yesterday's tests for
# today's.
export REPLAY_DAY ?= $(shell echo $$(($$(date +%s) / 86400)))

# Figures and numbers are pinned at the first level of amd64: at the third the
# compiler multiplies and adds with one rounding.
export GOAMD64 := v1

PYTHON ?= python3
FUZZTIME ?= 1m
PY       := .venv/bin/python
NOTEBOOK := $(PY) tools/notebook.py
PIP      := -m pip --disable-pip-version-check --quiet install --require-hashes --only-binary :all: --no-compile
GOPATHS   = $(wildcard pkg internal paper cmd web)

help:
	@echo 'make reproduce   execute the notebooks, regenerate figures/, print the table of results'
	@echo '                 (FRESH=1 trains every run anew instead of loading it)'
	@echo 'make verify      check every statement of the paper, write figures/claims.json and CLAIMS.md'
	@echo '                 (a row that comes out otherwise than stored is an error, until ACCEPT=1 writes it;'
	@echo '                 IDS="lem-tv thm-main" checks those and shows their witnesses, QUICK=1 the quick ones;'
	@echo "                 a number of the paper in quotation marks: IDS='\"Lemma 16\" \"Theorem 1\"')"
	@echo 'make errata      write figures/errata.tex and .pdf: what of the paper is false, with witnesses and proofs'
	@echo 'make quick       static checks and the tests that are not slow, in under a minute'
	@echo 'make test        everything that must hold'
	@echo 'make lab         open the notebooks in JupyterLab'
	@echo 'make site        build the site in .cache/site: notebooks that run in the page, ledger, gallery'
	@echo '                 (make pages without the kernel of the notebooks, which takes minutes at first)'
	@echo 'make site-test   build it, look at it in a browser, and run every notebook there'
	@echo 'make tidy        bring notebooks that another editor has saved into the stored form'
	@echo 'make fuzz        throw damaged files at every reader, a minute each (FUZZTIME=10s)'
	@echo 'make train       train what is not trained yet'
	@echo 'make test-slurm  sweeps as job arrays in a Slurm of their own; needs root, slurm-wlm and munge'
	@echo 'make bench       measure time and memory of a training step against a JAX peer'
	@echo '                 (without JAX: VECTORS=1 against itself without vectors, AGAINST=commit against that'
	@echo '                 version, SHAPES=1 with other priors and lengths; a minute or two)'
	@echo 'make container   execute the steps of the container (.binder, .devcontainer) in a clean root; needs root and debootstrap'
	@echo 'make clean       remove what set-up has installed here (not the caches of Go and pip)'

reproduce: setup
	$(if $(FRESH),go run ./cmd/paper train --fresh)
	$(NOTEBOOK) run
	go run ./cmd/paper export

tidy: setup
	$(NOTEBOOK) tidy

train:
	go run ./cmd/paper train $(if $(FRESH),--fresh)

verify:
	go run ./cmd/paper verify $(if $(QUICK),--quick) $(if $(ACCEPT),--accept) $(IDS)

# Go writes what fails into testdata/fuzz, where it is a case of the tests from then on.
fuzz:
	@go test -list '^Fuzz' ./... | awk '/^Fuzz/ { names[++n] = $$1 } /^ok/ { while (n > 0) print $$2, names[n--] }' | \
	while read -r package name; do \
		echo "$$package $$name"; \
		go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) "$$package" || exit 1; \
	done

errata:
	go run ./cmd/paper export errata

bench: setup
	$(if $(AGAINST),rm -rf .cache/against && mkdir -p .cache/against && git archive '$(AGAINST)' | tar -x -C .cache/against)
	$(if $(AGAINST),go -C .cache/against build -o ../bench-of-$(AGAINST) ./cmd/bench)
	$(if $(AGAINST),go run ./cmd/bench -against .cache/bench-of-$(AGAINST),\
	$(if $(SHAPES),go run ./cmd/bench -shapes,$(if $(VECTORS),go run ./cmd/bench -vectors,bash cmd/bench/run.sh)))

lab: setup .tools/lab
	$(NOTEBOOK) lab $(LABFLAGS)

# Needs root, debootstrap and the network; ten minutes and 3 GB while it runs.
container:
	@dir=$$(mktemp -d) && trap 'rm -rf --one-file-system "$$dir"' EXIT && python3 tools/container.py "$$dir"

# What cells may import is in notebooks/packages.txt; what they read is named here.
SITEPY := .tools/web/bin/python
PAGES   = $(SITEPY) web/site/build.py .cache/site $(if $(REPOSITORY),--repository '$(REPOSITORY)')

# The tag leaves formats out of gonum/plot that no cell shows.
LAB     = GOFLAGS='$(GOFLAGS) -tags=minimal' $(SITEPY) web/site.py --project . --packages notebooks/packages.txt \
	--notebooks notebooks --files go.mod runs figures paper/claims --cache .cache/web \
	--links CLAIMS.md=../ledger.html figures/errata.pdf=../figures/errata.pdf '*=$(if $(REPOSITORY),$(REPOSITORY)/*,../source/*.html)'

site: .tools/site
	$(PAGES) --lab
	$(LAB) --out .cache/site/lab
	@echo '.cache/site is built: python3 -m http.server --directory .cache/site shows it at http://localhost:8000'

pages: .tools/site
	$(PAGES)

site-test: site
	SITE="$(CURDIR)/.cache/site" $(SITEPY) -m unittest discover --start-directory web/site
	$(SITEPY) -m unittest discover --start-directory web --pattern 'test_*.py'

# Some cells in the page, from a site that is compressed quickly.
CHROMIUM := $(shell command -v chromium)

page: $(if $(CHROMIUM),.tools/page)
	$(if $(CHROMIUM),$(LAB) --level 1 --out .cache/slice)
	$(if $(CHROMIUM),LAB=.cache/slice $(SITEPY) -m unittest discover --start-directory web --pattern test_kernel.py -k test_a_slice)

clean:
	rm -rf .tools .venv .cache

# --- tests ---

# Two parts at a time fill the cores: most of them wait, or have one thing to do at their end.
# The longest come first, and each waits for that of the set-up alone which it needs.
# The last lines say what passed, and what could not be checked.
override PARTS := unit notebooks page static systems tools latex
# Compilers, linkers and tests take memory rather than time.
test: export GOGC := 400
test:
	@echo 'make test: $(PARTS), two at a time'
	@$(MAKE) --no-print-directory --jobs=2 ABREAST=1 $(PARTS)
	@echo
	@echo 'make test passed: static checks, compiling for other systems, Go tests, tests of the tools, notebooks against their committed outputs'
	@passed=5; \
	with() { \
		for program in $$2; do command -v $$program >/dev/null || { \
			echo; echo "!!! NOT CHECKED: $$1, because $$program is missing. README.md has the apt-get line."; return; }; \
		done; \
		passed=$$((passed + 1)); \
	}; \
	with 'the LaTeX exports in figures/' 'latexmk pdflatex'; \
	with 'some cells in a browser' chromium; \
	with 'the proofs in paper/proofs' coqc; \
	with 'the bytes in WebAssembly' node; \
	with 'the bytes on another processor' 'qemu-aarch64-static qemu-riscv64-static qemu-s390x-static'; \
	if grep -qsw avx512vl /proc/cpuinfo; then passed=$$((passed + 1)); \
	else echo; echo '!!! NOT CHECKED: the kernels with AVX-512, because this processor has none.'; fi; \
	echo; echo "checks: $$passed passed, 0 failed, $$((11 - passed)) skipped"

static: .tools/lint
	go vet ./...
	@faults=$$(.tools/bin/gofumpt -l $(GOPATHS)); \
		if [ -n "$$faults" ]; then echo "not in the form of gofumpt:"; echo "$$faults"; exit 1; fi
	.tools/bin/staticcheck ./...
	.tools/bin/revive -set_exit_status -config tools/lint/revive.toml ./...

# Each package has half an hour, on a machine with much else to do.
unit:
	go test -timeout 30m ./...

# What is built for other systems, their tests with it. WebAssembly has every file that amd64
# Linux has not: vet looks at those there, at packages as the page has them (web/pack), so that
# they are compiled once.
PACKED := -gcflags=all=-dwarf=false -tags=minimal
systems: .tools/lint
	.tools/bin/systems windows/amd64 darwin/arm64
	GOOS=js GOARCH=wasm go vet $(PACKED) ./...

# Go keeps the results of packages that have not changed.
quick: static
	go test -short ./...
	@echo; echo '!!! NOT RUN, because they are slow (make test runs them):'
	@awk -F'"' '/^func Test/ { split($$0, name, /[ (]/) } /t.Skip\("slow/ { print "  " name[2] ", " $$2 }' \
		$$(find pkg internal paper cmd -name '*_test.go')

# Go would keep results when files change that lie outside of a test's module: the assembly of
# internal/lanes, notebooks.
tools: setup
	$(PY) -m unittest discover --start-directory tools
	go -C tools/lanes vet . && go -C tools/lanes test -count=1 .
	go -C web vet ./... && go -C web test -count=1 ./...

notebooks: setup
	$(NOTEBOOK) lint
	$(NOTEBOOK) check

HAVE_LATEX := command -v latexmk >/dev/null && command -v pdflatex >/dev/null

# The daemons of Slurm are started and stopped by the script.
test-slurm:
	bash tools/slurm.sh go test -count 1 ./cmd/paper -run Slurm -v

# Every exported figure, table and number in one document, away from the
# checkout so that nothing is left behind. The numbers of the pages come from a run
# with empty figures; where they were others, latexmk would run again.
latex:
	@if ! { $(HAVE_LATEX); }; then \
		if [ "$$CI" = true ]; then echo 'latexmk or pdflatex is missing, and CI must not skip them'; exit 1; fi; \
		exit 0; \
	fi; \
	test -f figures/all.tex || { echo 'figures/all.tex is missing: make reproduce writes it'; exit 1; }; \
	dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && cp -R figures "$$dir" && cp -R figures "$$dir/empty" && \
	cd "$$dir/empty" && for figure in fig-*.tex; do : >"$$figure"; done && \
	{ pdflatex -draftmode -interaction=batchmode all.tex && cp all.aux ../figures; } >"$$dir/log" 2>&1; cd "$$dir/figures" && \
	if max_print_line=10000 latexmk -pdf -interaction=nonstopmode -halt-on-error all.tex >"$$dir/log" 2>&1; \
	then echo 'figures/all.tex compiles'; \
		! grep -E '^(Overfull|Missing character|LaTeX Font Warning|Package pgfplots Warning)' all.log; \
	else echo 'figures/all.tex does not compile:'; grep -A4 '^!' all.log || tail -n 30 "$$dir/log"; exit 1; fi

# --- set-up ---

# A notebook's cell is built in a workspace and without a network: it needs the
# go.mod of every module in the graph, more than the build alone does. What is built
# are the packages, as programs would be linked and thrown away.
setup: .tools/kernel
	@go mod graph >/dev/null
	@go build ./pkg/... ./paper/...

# What the tools were built for: another folder, Go or Python, and they are
# built again.
.tools/where: FORCE
	@mkdir -p .tools
	@where="$(CURDIR) $$(go env GOVERSION GOROOT | tr '\n' ' ') $$($(PYTHON) --version)" && \
		echo "$$where" | cmp -s - $@ || echo "$$where" >$@

.tools/go: tools/go.mod tools/go.sum .tools/where
	@echo 'Setting up (1 of 3): the Go kernel, half a minute where it is not built yet'
	@GOBIN="$(CURDIR)/.tools/bin" go -C tools install github.com/janpfeifer/gonb golang.org/x/tools/cmd/goimports
	@touch $@

.tools/lint: tools/lint/go.mod tools/lint/go.sum tools/lint/systems/main.go .tools/where
	@echo 'Setting up the linters'
	@GOBIN="$(CURDIR)/.tools/bin" go -C tools/lint install honnef.co/go/tools/cmd/staticcheck mvdan.cc/gofumpt github.com/mgechev/revive ./systems
	@touch $@

.tools/python: tools/requirements.txt .tools/where
	@rm -f .tools/lab
	@echo 'Setting up (2 of 3): Python, in .venv'
	@$(PYTHON) -m venv --clear .venv || { rm -rf .venv; echo 'python3 -m venv failed (on Debian it needs the package python3-venv)'; exit 1; }
	@$(PY) $(PIP) -r tools/requirements.txt
	@touch $@

.tools/kernel: .tools/go .tools/python tools/notebook.py
	@echo 'Setting up (3 of 3): the library, half a minute where it is not built yet'
	@go mod download
	@$(NOTEBOOK) kernel
	@touch $@

.tools/page: web/requirements.txt .tools/where
	@echo 'Setting up the notebooks in the page, in .tools/web: JupyterLite, and what its tests need'
	@$(PYTHON) -m venv --clear .tools/web
	@$(SITEPY) $(PIP) -r web/requirements.txt
	@touch $@

.tools/site: web/site/requirements.txt .tools/page
	@echo 'Setting up the other pages of the site: Sphinx'
	@$(SITEPY) $(PIP) -r web/requirements.txt -r web/site/requirements.txt
	@touch $@

# gopls completes names in the notebook; nothing else needs it.
.tools/lab: tools/requirements-lab.txt .tools/kernel
	@echo 'Setting up JupyterLab (1 of 2): its packages, half a minute'
	@$(PY) $(PIP) -r tools/requirements-lab.txt
	@echo 'Setting up JupyterLab (2 of 2): gopls, which completes names; a minute'
	@GOBIN="$(CURDIR)/.tools/bin" go -C tools install golang.org/x/tools/gopls
	@touch $@

FORCE:
.PHONY: fuzz test-slurm help reproduce tidy container train verify errata bench lab site pages site-test clean test quick static systems unit tools notebooks page latex setup FORCE
