#!/usr/bin/env bash
# Checks what the Makefile needs of this machine. A fault is one line with its remedy.
set -uo pipefail

stop() {
	echo "make: $1" >&2
	exit 1
}

case $PWD in
*:*) stop "the folder $PWD has a colon in its name, which PATH and Python's venv do not allow; rename it" ;;
*$'\n'*) stop 'a folder above this one has a line break in its name; rename it' ;;
esac
command -v go >/dev/null || stop 'go is missing: install Go 1.26 from https://go.dev/dl/ and add its bin to PATH'
command -v git >/dev/null || stop 'git is missing, which applies tools/gonb.patch: install it'
for name in GOCACHE GOMODCACHE; do
	folder=$(go env "$name" 2>&1) || stop "go env $name: $folder"
	{ mkdir -p "$folder" && [ -w "$folder" ]; } 2>/dev/null ||
		stop "Go cannot write its cache in ${folder:-no folder}: export GOCACHE=FOLDER GOMODCACHE=FOLDER, two folders that you can write"
done
go mod download || stop 'a module of Go could not be downloaded, see above; `make setup-all` downloads everything for work without a network'
try=$(mktemp 2>/dev/null) || stop "no file can be written in ${TMPDIR:-/tmp}: export TMPDIR=FOLDER, a folder that you can write"
printf '#!/bin/sh\n' >"$try"
chmod +x "$try"
"$try" 2>/dev/null
can=$?
rm -f "$try"
[ "$can" = 0 ] || stop "programs cannot run in ${TMPDIR:-/tmp}: export TMPDIR=FOLDER, a folder on a file system without noexec"
if [ "${1:-}" = python ]; then
	command -v "$PYTHON" >/dev/null || stop "$PYTHON is missing: install Python 3.11 or later, or name one as in make PYTHON=python3.11"
	"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
		stop "$("$PYTHON" --version) is too old: name Python 3.11 or later, as in make PYTHON=python3.11"
fi
