#!/usr/bin/env bash
# The insides of make bench: sets up JAX in .cache, checks the peer against the golden
# vectors, and measures. AUTHORS=dir names a checkout of the authors' repository to be
# measured too; arguments go to the driver (go doc ./cmd/bench).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

venv=.cache/bench-venv
pins=cmd/bench/requirements.txt
if ! cmp -s "$pins" "$venv/pins"; then
	"${PYTHON:-python3}" -m venv --clear "$venv"
	"$venv/bin/python" -m pip --disable-pip-version-check --quiet install --require-hashes --only-binary :all: -r "$pins" ||
		{ echo 'bench: the packages of the peer come from PyPI: this needs a network or a mirror (PIP_INDEX_URL)' >&2; exit 1; }
	cp "$pins" "$venv/pins"
fi

export PYTHONDONTWRITEBYTECODE=1
for golden in catformer-h11-s3t6 catformer-h31-s3t6 transformer-mlp-s3t5; do
	"$venv/bin/python" cmd/bench/peer.py check pkg/model/testdata/$golden.json
done
go build -buildvcs=false -o .cache/bench ./cmd/bench
exec .cache/bench -python "$venv/bin/python" ${AUTHORS:+-authors "$AUTHORS"} "$@"
