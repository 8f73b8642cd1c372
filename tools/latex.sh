#!/usr/bin/env bash
# Compiles figures/all.tex, which has every exported figure, table and number, in a copy of
# the folder. Skips that without LaTeX, but not in CI.
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v latexmk >/dev/null || ! command -v pdflatex >/dev/null; then
	[ "${CI:-}" != true ] || { echo 'latexmk or pdflatex is missing, and CI must not skip them'; exit 1; }
	exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cp -R figures "$dir"
cp -R figures "$dir/empty"
# A draft with empty figures finds the page numbers, so one pass with the figures is enough.
cd "$dir/empty"
for figure in fig-*.tex; do : >"$figure"; done
pdflatex -draftmode -interaction=batchmode all.tex >/dev/null && cp all.aux ../figures || true
cd ../figures
if ! max_print_line=10000 latexmk -pdf -interaction=nonstopmode -halt-on-error all.tex >log 2>&1; then
	echo 'figures/all.tex does not compile:'
	grep -A4 '^!' all.log || tail -n 30 log
	exit 1
fi
echo 'figures/all.tex compiles'
! grep -E '^(Overfull|Missing character|LaTeX Font Warning)' all.log
