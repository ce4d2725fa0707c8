"""Lists of plain values from all processes, in one exchange if they are short."""

from __future__ import annotations

import pickle
from typing import Any

import torch
import torch.distributed as dist
from accelerate import PartialState
from accelerate.utils import gather_object
from torch import Tensor

HEAD = 8  # bytes of the length
SHORT = 8192  # bytes that the first exchange has; longer lists need a second one


def gather_rows(rows: list[Any]) -> list[Any]:
    """Gather the rows of all processes, in the order of the processes.

    It returns what accelerate's `gather_object` does, which always needs two exchanges.
    """
    state = PartialState()
    if state.num_processes == 1:
        return rows
    if not dist.is_initialized():  # TPUs
        return gather_object(rows)
    data = pickle.dumps(rows)
    whole = len(data).to_bytes(HEAD, "little") + data
    parts = _exchanged(whole[:SHORT], SHORT, state.device)
    sizes = [HEAD + int.from_bytes(part[:HEAD], "little") for part in parts]
    if max(sizes) > SHORT:
        parts = _exchanged(whole, max(sizes), state.device)
    each = [pickle.loads(part[HEAD:size]) for part, size in zip(parts, sizes, strict=True)]
    return [row for found in each for row in found]


def _exchanged(own: bytes, size: int, device: Any) -> list[bytes]:
    """Exchange the bytes of every process, filled up to one common size."""
    sent = torch.frombuffer(bytearray(own.ljust(size, b"\0")), dtype=torch.uint8).to(device)
    received: list[Tensor] = [torch.empty_like(sent) for _ in range(dist.get_world_size())]
    dist.all_gather(received, sent)
    return [part.cpu().numpy().tobytes() for part in received]
