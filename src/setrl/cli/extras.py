"""Which extra of setrl installs what: without one there is NumPy and no command."""

from __future__ import annotations

from setrl.support.installing import install

COMMANDS = {
    "train": ("train:Train", "train"),
    "sample": ("sample:SampleModel", "cli"),
    "evaluate": ("evaluate:Evaluate", "cli"),
    "compare": ("compare:Compare", "cli"),
    "report": ("report:Report", "cli,plot"),
    "credit": ("credit:CreditLog", "cli"),
    "grade": ("grade:GradeAnswer", "cli"),
    "judge": ("judge:JudgeLog", "judge"),
    "judge-audit": ("judge_audit:JudgeAudit", "judge"),
    "import": ("import_log:ImportLog", "cli"),
    "check-task": ("check_task:CheckTask", "train"),
    "recommend": ("recommend:Recommend", "cli"),
    "audit": ("audit:AuditEstimator", "cli"),
    "playground": ("playground:Playground", "cli"),
    "view": ("view:View", "lab"),
    "doctor": ("doctor:Doctor", ""),
    "control": ("control:Control", "gym"),
    "control watch": ("control:Watch", "gym"),
    "verl check": ("verl_check:VerlCheck", "cli"),
}
"""Command → its class in setrl.cli, and the extras that it always needs; options may need more."""

USES = {
    "cli": "all commands but `setrl doctor`, and configs",
    "logs": "logs in Parquet, of TRL and lighteval among them, and newer logs of Inspect",
    "plot": "`setrl report` and all figures",
    "train": "`setrl train`, `setrl check-task`, SetGRPOTrainer",
    "peft": "LoRA: the key peft of a config",
    "tensorboard": "TensorBoard: trainer: {report_to: tensorboard} in a config",
    "tinker": "training through a server: the key engine of a config",
    "judge": "`setrl judge`, `setrl judge-audit` and models behind an endpoint (`setrl sample`)",
    "lab": "`setrl view`",
    "serve": "`transformers serve`, which serves small models (recipes/trained_judge)",
    "gym": "`setrl control`, `setrl control watch` and Poly-PPO",
    "mujoco": "control tasks with MuJoCo",
    "atari": "control tasks with Atari",
    "jax": "`setrl.core.jax`: set credit inside `jax.jit`",
    "jax-control": "control tasks on JAX",
    "all": "all of these, and the tests",
}
"""Extra → what needs it."""

MODULES = {
    "setrl_grader": "cli",
    "tyro": "cli",
    "yaml": "cli",
    "tqdm": "cli",
    "pydantic": "cli",
    "annotated_types": "cli",
    "pyarrow": "logs",
    "matplotlib": "plot",
    "jinja2": "plot",
    "torch": "train",
    "transformers": "train",
    "trl": "train",
    "accelerate": "train",
    "datasets": "train",
    "safetensors": "train",  # and gym
    "peft": "peft",
    "aiohttp": "judge",
    "sklearn": "judge",
    "fastapi": "serve",
    "starlette": "lab",
    "uvicorn": "lab",
    "openai": "serve",
    "gymnasium": "gym",
    "minigrid": "gym",
    "stable_baselines3": "gym",
    "imageio": "gym",
    "mujoco": "mujoco",
    "ale_py": "atari",
    "cv2": "atari",
    "tensorboard": "tensorboard",
    "jax": "jax",
    "optax": "jax-control",
    "tinker": "tinker",
}
"""Module → the extra that installs it; the first, where several do."""


def needs(error: ImportError, command: str) -> str | None:
    """Return a sentence that names the extra of a missing package; None for other packages.

    Args:
        error: What the import raised, or the code that needed it.
        command: The command that was given, one of `COMMANDS`.
    """
    if "pip install " in str(error):  # it is such a sentence already
        return str(error)
    if not isinstance(error, ModuleNotFoundError):
        return None
    module = str(error.name).partition(".")[0]
    if module not in MODULES:
        return None
    extra = MODULES[module]
    if extra == "cli":  # nothing is installed: name all that the command needs at once
        extra = COMMANDS[command][1] or extra
    return f"setrl {command} needs {module}: {install(extra)}"
