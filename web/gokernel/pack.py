"""Pack packages of Go for a page: what its compiler and its linker read of each, compressed."""

import gzip
import hashlib
import os
import pathlib
import re
import subprocess
import sys

import zstandard

MAGIC = b"!<arch>\n"
HEADER = 60  # bytes before each member: name 16, time 12, owner 6, group 6, mode 8, size 10, end 2
SIZE = 48  # where the size is
PART = 1 << 22  # bytes that the page hashes at once
WINDOW = 27  # log2 of bytes: the archives of packages are similar


def go(folder, *args, **variables):
    """Return what go prints, for WebAssembly, in a folder."""
    env = {**os.environ, "GOOS": "js", "GOARCH": "wasm", "GOWORK": "off", **variables}
    done = subprocess.run(["go", *map(str, args)], cwd=folder, env=env, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"go {args[0]} in {folder}: {done.stderr}")
    return done.stdout


def divide(archive):
    """Return the part of a package's archive that the compiler reads when the package is imported, and the part that the linker reads."""
    if not archive.startswith(MAGIC + b"__.PKGDEF "):
        raise ValueError(f"no archive of a package: it begins with {archive[:18]!r}")
    rest = archive[len(MAGIC):]
    size = rest[SIZE:SIZE + 10].strip()
    if not size.isdigit() or len(rest) - HEADER < int(size):
        raise ValueError("an archive whose first member is cut off")
    body = rest[HEADER:HEADER + int(size)]
    end = HEADER + len(body) + len(body) % 2
    lines, found, _ = body.partition(b"\n$$B\n")  # the linker reads the lines, which have the version of Go
    if not found:
        raise ValueError("an archive without export data")
    lines += b"\n\n"
    first = rest[:SIZE] + b"%-10d" % len(lines) + rest[SIZE + 10:HEADER] + lines + b"\0" * (len(lines) % 2)
    return MAGIC + rest[:end], MAGIC + first + rest[end:]


def exported(files):
    """Return the exported names that formatted files of a package declare, for completion."""
    names = set()
    for file in files:
        group = False
        for line in file.read_text("utf-8").splitlines():
            if line.startswith((")", "const (", "var (", "type (")):
                group = line[0] != ")"
            if found := re.match(r"\t(\w+(?:, \w+)*)" if group else r"(?:func|const|var|type) (\w+(?:, \w+)*)", line):
                names.update(name for name in found[1].split(", ") if name[0].isupper())
    return " ".join(sorted(names))


def importable(paths, listed):
    """Return the packages that a cell may import, the packages of a list first, from their paths, names and exported names."""
    open_ = [{"path": p, "name": n, "exported": e} for p, n, e in paths if not {"internal", "vendor"} & set(p.split("/"))]
    return sorted(open_, key=lambda p: listed.index(p["path"]) if p["path"] in listed else len(listed))


def digest(data):
    """Return the hash in the name of a file: 16 digits of SHA-256 of the hashes of its parts."""
    parts = (hashlib.sha256(data[i:i + PART]).digest() for i in range(0, len(data), PART))
    return hashlib.sha256(b"".join(parts)).hexdigest()[:16]


def compressed(static, name, data, level, cache):
    """Write compressed data into a folder, from the cache if it has them; return their entry in the manifest."""
    name_hash = digest(data)
    kept = cache / "packed" / f"{name_hash}-{level}"
    if name == "cell":  # the reader of zstd cannot be packed with zstd
        small, suffix = gzip.compress(data, 9, mtime=0), "gz"
    else:
        if not kept.exists():
            if level > 9:
                print(f"compressing {name}, once for this content: about {2 + len(data) // 1500000} s", file=sys.stderr)
            parameters = zstandard.ZstdCompressionParameters.from_level(level, window_log=WINDOW)
            kept.parent.mkdir(parents=True, exist_ok=True)
            part = kept.with_suffix(".part")
            part.write_bytes(zstandard.ZstdCompressor(compression_params=parameters).compress(data))
            part.rename(kept)
        small, suffix = kept.read_bytes(), "zst"
    url = f"{name}-{name_hash}.{suffix}.bin"
    (static / url).write_bytes(small)
    return {"url": url, "size": len(small), "unpacked": len(data)}


def packages(static, manifest, project, listed, level, cache, *flags):
    """Write the packages of a list, and all that they import, into a folder, and into its manifest."""
    form = '{{if .Export}}{{.ImportPath}}\t{{.Name}}\t{{.Export}}\t{{.Dir}}\t{{join .GoFiles "\t"}}{{end}}'
    out = go(project, "list", "-deps", "-export", "-trimpath", "-gcflags=all=-dwarf=false", "-f", form, *flags, "--", *listed, GOTOOLCHAIN=manifest["go"])
    found = [line.split("\t") for line in out.splitlines() if line]
    halves = [divide(pathlib.Path(f[2]).read_bytes()) for f in found]
    manifest["packages"] = importable([(f[0], f[1], exported(pathlib.Path(f[3], name) for name in f[4:])) for f in found], listed)
    for k, name in enumerate(("exports", "objects")):
        manifest[name] = [{"path": f[0], "size": len(h[k])} for f, h in zip(found, halves)]
        manifest["files"][name] = compressed(static, name, b"".join(h[k] for h in halves), level, cache)
