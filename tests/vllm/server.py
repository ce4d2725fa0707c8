"""A real vLLM server of one model on loopback, on a CPU, in processes of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import urllib.request

NAME = "m"
# The last two: threads that wait for each other spin, which is slow where cores are shared.
ENVIRONMENT = {
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_SERVER_DEV_MODE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "HF_HUB_OFFLINE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_NUM_THREADS": "1",
}
PATIENCE_S = 600


class Server:
    """Started by `with`, and ended with all its processes.

    Args:
        model: The folder of the model, which the server knows as `NAME`.
        log: Where the server writes.
        port: Of 127.0.0.1.
        options: Further options of `vllm serve`.
    """

    def __init__(self, model, log, port, *options):
        self.model, self.log, self.port, self.options = model, log, port, options

    @property
    def root(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self):
        """The form that OpenAI's clients want."""
        return f"{self.root}/v1"

    def __enter__(self):
        began = time.monotonic()
        # `vllm serve` asks for the metadata of a package `vllm`, and this one is `vllm-cpu`.
        command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server"]
        command += ["--model", self.model, "--served-model-name", NAME]
        command += ["--host", "127.0.0.1", "--port", self.port]
        command += ["--dtype", "float32", "--enforce-eager", *self.options]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                list(map(str, command)),
                stdout=log,
                stderr=log,
                env=os.environ | ENVIRONMENT,
                start_new_session=True,
            )
        try:
            self._wait()
        except BaseException:
            self.kill()
            raise
        print(f"{self.log.stem}: up after {time.monotonic() - began:.0f} s", flush=True)
        return self

    def _wait(self):
        for _ in range(PATIENCE_S):
            if self.process.poll() is not None:
                sys.exit(f"the server ended at once: see {self.log}")
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{self.root}/health", timeout=5).read()
                return
            time.sleep(1)
        sys.exit(f"the server does not answer: see {self.log}")

    def __exit__(self, *_):
        self.kill()

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        print(f"{self.log.stem}: stopped", flush=True)
