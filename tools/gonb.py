"""Become GoNB, the kernel of the notebooks, with a limit for the memory of each program and a folder where programs run.

    gonb.py GONB [ARGUMENT...]
"""

import os
import pathlib
import resource
import shutil
import sys
import tempfile

TEMPORARY = pathlib.Path(__file__).resolve().parent.parent / ".tools" / "tmp"


def memory(groups="/sys/fs/cgroup"):
    """Return the bytes of memory of this machine, or of its container if that has fewer."""
    sizes = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for file in "memory.max", "memory/memory.limit_in_bytes":  # Linux's control groups, versions 2 and 1
        try:
            sizes.append(int(pathlib.Path(groups, file).read_text()))
        except (OSError, ValueError):  # ValueError: "max"
            pass
    return min(sizes)


def limit_memory():
    """Limit the private memory of each program to three quarters of the memory, unless a lower limit is set.

    Beyond the limit Linux refuses memory, and a Go program ends with a message. macOS has no such limit.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    given = [n for n in (soft, hard) if n != resource.RLIM_INFINITY]
    resource.setrlimit(resource.RLIMIT_DATA, (min([memory() * 3 // 4, *given]), hard))


def temporary(usual):
    """Return the usual folder for temporary files, or a new one below .tools if programs cannot run in the usual one.

    A killed kernel leaves its folder, which has the name of its process, to the next one.
    """
    if not os.statvfs(usual).f_flag & getattr(os, "ST_NOEXEC", 0):
        return usual
    for folder in TEMPORARY.glob("[0-9]*"):
        if not pathlib.Path("/proc", folder.name).exists():
            shutil.rmtree(folder, ignore_errors=True)
    own = TEMPORARY / str(os.getpid())
    own.mkdir(parents=True, exist_ok=True)
    return str(own)


if __name__ == "__main__":
    limit_memory()
    os.environ["TMPDIR"] = temporary(tempfile.gettempdir())
    os.execv(sys.argv[1], sys.argv[1:])
