"""kernelrl.local with a stand-in for the program, and TLS."""

import os
import shutil
import ssl
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import kernelrl
from fake_server import FakeServer

# `kernelrl serve` as far as local() knows it; it notes how it was called, and that it was told to stop.
PROGRAM = """#!/bin/sh
[ "$3" != broken ] || { echo "no such backend" >&2; exit 2; }
echo "$*" > "$0.words"
trap 'touch "$0.stopped"; exit' TERM
echo "listening on URL, judging by nothing"
while :; do sleep 0.01; done
"""


class Local(unittest.TestCase):
    def setUp(self):
        self.server = self.enterContext(FakeServer(default=lambda call: call.json({"status": "ok"})))
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.program = self.folder / "kernelrl"
        self.program.write_text(PROGRAM.replace("URL", self.server.url))
        self.program.chmod(0o755)

    def test_starts_and_stops(self):
        with kernelrl.local("cpu", ["--tasks", "mine"], program=str(self.program)) as judge:
            self.assertEqual(judge.url, self.server.url)
            self.assertTrue(judge.healthy())
            self.assertFalse((self.folder / "kernelrl.stopped").exists())
        self.assertTrue((self.folder / "kernelrl.stopped").exists())
        words = (self.folder / "kernelrl.words").read_text()
        self.assertEqual(words, "serve --backend cpu --port 0 --until-eof --tasks mine\n")

    def test_finds_the_program(self):
        for environment in ({"KERNELRL": str(self.program)}, {"PATH": f"{self.folder}:/usr/bin:/bin"}):
            with mock.patch.dict(os.environ, environment, clear=True), kernelrl.local() as judge:
                self.assertTrue(judge.healthy())
        with mock.patch.dict(os.environ, {"PATH": ""}, clear=True):
            with self.assertRaisesRegex(FileNotFoundError, "set KERNELRL"), kernelrl.local():
                pass

    def test_says_why_it_did_not_start(self):
        with self.assertRaisesRegex(kernelrl.JudgeError, "no such backend"):
            with kernelrl.local("broken", program=str(self.program)):
                pass


@unittest.skipUnless(shutil.which("openssl"), "needs openssl")
class Tls(unittest.TestCase):
    def test_certificates(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        key, certificate = f"{folder}/key.pem", f"{folder}/certificate.pem"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
            + ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
            check=True,
            capture_output=True,
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server = FakeServer()
        server.socket = context.wrap_socket(server.socket, server_side=True)
        server.handle_error = lambda *_: None  # a client that does not trust it
        url = server.url.replace("http", "https")
        with server, kernelrl.Judge(url, ca_file=certificate) as judge:
            self.assertTrue(judge.evaluate("t", "s").ok)
            with self.assertRaisesRegex(kernelrl.Unauthorized, "certificate is not trusted"):
                kernelrl.Judge(url).evaluate("t", "s")


if __name__ == "__main__":
    unittest.main()
