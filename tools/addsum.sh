#!/bin/sh
# Adds the first line, a checksum of the rest, to files of a store of runs that were written
# before November 2026: sh tools/addsum.sh runs/*/run.json runs/sweeps/*/results.jsonl
set -eu
for file; do
	case $(head -n 1 "$file" | cut -c -11) in
	'{') from=2 end=, ;;
	'{"address":') from=1 end=} ;;
	*) echo "$file: has a checksum, or is not a file of a store"; continue ;;
	esac
	sum=$(tail -n +$from "$file" | sha256sum | cut -c -64)
	{ printf '{"sha256":"%s"%s\n' "$sum" "$end"; tail -n +$from "$file"; } >"$file.new"
	mv "$file.new" "$file"
done
