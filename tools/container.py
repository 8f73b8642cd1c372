"""Execute the steps of .binder/Dockerfile in a clean root, then those of a reader in it.

    container.py FOLDER

The clean root is a Debian made by debootstrap in FOLDER, with the Go of this machine in the place
where the image golang has it; an empty FOLDER is needed, and root. What this machine says about
its network (certificates, mirrors of packages, proxies) is carried over; nothing else is.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NETWORK_FILES = ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "/etc/ssl/certs", "/usr/local/share/ca-certificates")
NETWORK = re.compile(r"(?i)_proxy$|^(go(proxy|sumdb|noproxy|nosumdb|private)|pip_index_url)$|cert|ca_bundle|ca_info|cainfo")
IMAGE = {"GOPATH": "/go", "GOTOOLCHAIN": "local", "PATH": "/go/bin:/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}


def say(text):
    print(text, flush=True)


def steps(dockerfile):
    """Yield (instruction, rest) of a Dockerfile."""
    text = re.sub(r"(?m)^\s*#.*\n", "", dockerfile).replace("\\\n", " ")
    for line in text.split("\n"):
        if line.strip():
            word, rest = line.strip().split(None, 1)
            yield word, rest


def base(root, image):
    """Make what `FROM golang:VERSION-SUITE` stands for."""
    version, suite = re.fullmatch(r"golang:([\d.]+)-(\w+)", image).groups()
    have = subprocess.run(["go", "env", "GOVERSION", "GOROOT"], capture_output=True, text=True, check=True).stdout.split()
    if not have[0].startswith("go" + version):
        sys.exit(f"the image has Go {version}, this machine has {have[0]}")
    mirror = []
    if m := re.search(r"(?m)^URIs:\s*(\S+)", sources()):
        mirror = [m[1]]
    subprocess.run(["debootstrap", "--variant=minbase", suite, str(root), *mirror], check=True, stdout=subprocess.DEVNULL)
    # The image has what Go needs of Debian, and certificates.
    for path in (*NETWORK_FILES, *map(str, pathlib.Path("/etc/apt/apt.conf.d").glob("9*"))):
        copy(path, root)
    shutil.copytree(have[1], root / "usr/local/go", symlinks=True)
    (root / "go").mkdir()
    os.chmod(root / "go", 0o1777)
    os.chmod(root, 0o755)
    for device in ("null", "urandom", "zero"):
        if not (root / "dev" / device).exists():
            subprocess.run(["cp", "-a", f"/dev/{device}", root / "dev"], check=True)
    os.chmod(root / "dev/null", 0o666)


def sources():
    path = pathlib.Path("/etc/apt/sources.list.d/debian.sources")
    return path.read_text() if path.exists() else ""


def copy(path, root):
    path, to = pathlib.Path(path), root / path.lstrip("/")
    if path.is_dir():
        shutil.copytree(path, to, dirs_exist_ok=True)
    elif path.exists():
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, to)


class Container:
    """What the instructions so far have made."""

    def __init__(self, root):
        self.root, self.folder, self.user, self.args = root, "/", "0", {}
        self.env = {k: v for k, v in os.environ.items() if NETWORK.search(k)} | IMAGE | {"HOME": "/root"}

    def fill(self, text):
        known = self.env | self.args
        return re.sub(r"\$\{(\w+)\}", lambda m: known[m[1]], text)

    def do(self, word, rest):
        rest = rest if word == "RUN" else self.fill(rest)
        if word == "FROM":
            if rest.split()[0].startswith("golang:"):
                base(self.root, rest.split()[0])
        elif word == "ARG":
            name, _, value = rest.partition("=")
            self.args[name] = value.strip('"')
        elif word == "ENV":
            name, _, value = rest.partition("=")
            self.env[name] = value
        elif word == "WORKDIR":
            self.folder = rest
            (self.root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
        elif word == "USER":
            self.user = rest
        elif word == "COPY":
            owner = re.fullmatch(r"--chown=(\d+) \. \.", rest)[1]
            tracked = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True).stdout
            to = self.root / self.folder.lstrip("/")
            subprocess.run(["tar", "-x", "-C", to, f"--owner={owner}"], input=tracked, check=True)
            subprocess.run(["chown", "-R", owner, to], check=True)
        elif word == "RUN":
            self.run(rest)
        else:
            sys.exit(f"{word} is not an instruction that this test knows")

    def run(self, command):
        say(f"[uid {self.user}, {self.folder}] {command}")
        # /proc is there for as long as the command runs, and for it alone.
        enter = 'mount --bind /proc "$0/proc" && exec chroot --userspec="$1:$1" "$0" /bin/sh -c "$2"'
        inside = ["unshare", "--mount", "sh", "-c", enter, str(self.root), self.user, f"cd {self.folder} && {command}"]
        subprocess.run(inside, env=self.env | self.args, check=True)


# What a reader does in the container: a notebook is executed, JupyterLab serves and saves one.
READER = (
    "python3 tools/notebook.py run notebooks/01-task.ipynb",
    "python3 -m unittest discover --start-directory tools --pattern test_lab.py",
)


def main():
    root = pathlib.Path(sys.argv[1])
    settings = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    if any(root.iterdir()) or os.geteuid() != 0:
        sys.exit("want an empty folder, and to be root")
    container = Container(root)
    for word, rest in steps((ROOT / ".binder/Dockerfile").read_text()):
        container.do(word, rest)
    container.run(settings["postCreateCommand"])  # finds all of it done
    for command in READER:
        container.run(command)
    say("the container's steps pass in a clean root")


if __name__ == "__main__":
    main()
