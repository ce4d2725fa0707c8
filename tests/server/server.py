"""SkyRL's server of the Tinker protocol, in processes of its own; `processes` of them compute."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).parent
ADAPTERS = {"max_lora_adapters": 8, "max_lora_rank": 32}


class Server:
    """A server of one model on loopback.

    Attributes:
        folder: Its logs, its database and what it saves.
        compiled: What JAX has compiled, which later servers need not.
        processes: How many processes of JAX share the model and each batch.
    """

    def __init__(self, python, model, folder, port, processes=1):
        self.python, self.model, self.folder, self.port = python, model, folder, port
        self.compiled = folder.parent.parent / "compiled"
        self.processes, self._running = processes, []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def saved(self):
        """The files of all saved weights."""
        return sorted((self.folder / "checkpoints").rglob("*.tar.gz"))

    @property
    def made(self):
        """How many models it has made since it started last."""
        return len(self._models("Created LoRA model"))

    @property
    def loaded(self):
        """The models that it has made since it started last and not unloaded."""
        return self._models("Created LoRA model") - self._models("Unloaded model")

    def _models(self, words):
        text = " ".join((self.folder / "server.log").read_text(errors="replace").split())
        since = text.rpartition("Starting background engine")[2]  # its lines are broken at 80
        return set(re.findall(rf"{words} (model_\w+)", since))

    def file_of(self, path, inner=""):
        """tinker://MODEL/…/NAME → its file."""
        parts = path.removeprefix("tinker://").split("/")
        return self.folder / "checkpoints" / parts[0] / inner / f"{parts[-1]}.tar.gz"

    def start(self):
        began = time.monotonic()
        self.folder.mkdir(parents=True, exist_ok=True)
        self._running = [self._run(self._api()), *map(self._run, self._others())]
        self._wait()
        what = f"{self.processes} process{'es' * (self.processes > 1)}"
        print(f"server up after {time.monotonic() - began:.0f} s: {what}", flush=True)

    def kill(self):
        """End it and all its processes, at once."""
        for process in self._running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _api(self):
        command = [HERE / "uv", "run", "-m", "skyrl.tinker.api", "--base-model", self.model]
        command += ["--backend", "jax", "--host", "127.0.0.1", "--port", self.port]
        command += ["--checkpoints-base", self.folder / "checkpoints"]
        command += ["--database-url", f"sqlite:///{self.folder / 'server.db'}"]
        return [*command, "--backend-config", json.dumps(ADAPTERS | self._mesh())]

    def _mesh(self):
        if self.processes == 1:
            return {}
        return {
            "coordinator_address": self._coordinator,
            "num_processes": self.processes,
            "fully_sharded_data_parallel_size": self.processes,
        }

    @property
    def _coordinator(self):
        return f"127.0.0.1:{self.port + 1}"

    def _others(self):
        command = [self.python, "-m", "skyrl.backends.jax"]
        command += ["--coordinator-address", self._coordinator]
        command += ["--num-processes", self.processes, "--process-id"]
        return [[*command, number] for number in range(1, self.processes)]

    def _run(self, command):
        environment = os.environ | {
            "PATH": f"{HERE}:{os.environ['PATH']}",
            "SERVER_PYTHON": str(self.python),
            "JAX_PLATFORMS": "cpu",
            "HF_HUB_OFFLINE": "1",
            "JAX_COMPILATION_CACHE_DIR": str(self.compiled),
            "PYTHONPATH": "",
        }
        with (self.folder / "server.log").open("ab") as log:
            return subprocess.Popen(
                list(map(str, command)),
                stdout=log,
                stderr=log,
                env=environment,
                start_new_session=True,
            )

    def _wait(self):
        for _ in range(180):
            if any(process.poll() is not None for process in self._running):
                sys.exit(f"the server ended at once: see {self.folder / 'server.log'}")
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{self.url}/api/v1/healthz", timeout=2).read()
                return
            time.sleep(1)
        sys.exit(f"the server does not answer: see {self.folder / 'server.log'}")
