"""ready.sh names what is missing on a machine, with a remedy, in one line."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Ready(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def refused(self, message, *arguments, folder=ROOT, **variables):
        env = {**os.environ, "PYTHON": sys.executable, **variables}
        done = subprocess.run(["/bin/bash", ROOT / "tools" / "ready.sh", *arguments], cwd=folder, env=env, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr.count("\n")), (1, "", 1), done)
        self.assertRegex(done.stderr, message)

    def test_a_colon_in_the_path_is_refused(self):
        folder = self.folder / "a:b"
        folder.mkdir()
        self.refused("a:b has a colon", folder=folder)

    def test_without_go_the_message_says_where_it_is(self):
        self.refused("go is missing.*go.dev", PATH=str(self.folder))

    def test_a_cache_that_cannot_be_written_is_named(self):
        (self.folder / "file").touch()
        for name in "GOCACHE", "GOMODCACHE":
            self.refused(rf"cache in {self.folder}/file/c.*export GOCACHE", **{name: f"{self.folder}/file/c"})

    def test_a_temporary_folder_that_is_absent_is_named(self):
        self.refused("export TMPDIR=FOLDER", TMPDIR=f"{self.folder}/absent")

    def test_an_old_python_is_named(self):
        old = self.folder / "python3.10"
        old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.10.9\nexit 1\n')
        old.chmod(0o755)
        self.refused("Python 3.10.9 is too old.*make PYTHON=python3.11", "python", PYTHON=str(old))
        self.refused("python3.99 is missing", "python", PYTHON="python3.99")

    @unittest.skipUnless(sys.platform == "linux" and os.geteuid() == 0, "mounts a file system")
    def test_a_temporary_folder_without_programs_is_named(self):
        mount = f'mount -t tmpfs -o noexec none "{self.folder}" && exec /bin/bash tools/ready.sh'
        done = subprocess.run(["unshare", "--mount", "/bin/sh", "-c", mount], cwd=ROOT, capture_output=True, text=True,
                              env={**os.environ, "TMPDIR": str(self.folder)})
        self.assertIn(f"programs cannot run in {self.folder}: export TMPDIR=FOLDER", done.stderr)
        self.assertEqual(done.returncode, 1)
