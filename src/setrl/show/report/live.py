"""The page of a run while it trains."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread

from setrl.show.report.progress import is_running
from setrl.train.runs.written import REPORT, refuse_page_of_others

EVERY = 20.0  # seconds between two pages
LEAST_PAUSE = 25  # times as long as writing took: a page takes at most 4% of one core
CHANGING = ("*/seed_*/metrics.jsonl", "*/seed_*/evaluation*", "base/evaluation*")


@contextmanager
def kept_up_to_date(run_dir: Path) -> Iterator[None]:
    """Write the page of a run while it trains inside the context, in a thread.

    Pictures for readers without scripts are left to the report at the end. An interrupted run gets
    its page once more, so that the page does not say that the run still trains.
    """
    ended = Event()
    writer = Thread(target=_write_until, args=(run_dir, ended), daemon=True)
    writer.start()
    try:
        yield
    except KeyboardInterrupt:
        ended.set()
        writer.join()
        if (run_dir / REPORT).exists():
            _write(run_dir)
        raise
    finally:
        ended.set()
        writer.join()


def _write_until(run_dir: Path, ended: Event) -> None:
    pause, before = EVERY, ""
    while not ended.wait(pause):
        if is_running(run_dir) and (now := _state(run_dir)) not in ("", before):
            start = time.monotonic()
            _write(run_dir)
            before, pause = now, max(EVERY, LEAST_PAUSE * (time.monotonic() - start))


def _write(run_dir: Path) -> None:
    # Training goes on whatever happens here: the report at the end says what is wrong.
    with suppress(Exception):
        from setrl.show.report.page import write_page

        refuse_page_of_others(run_dir / REPORT)
        write_page(run_dir, pictures=False)


def _state(run_dir: Path) -> str:
    """Return what changes with every step and evaluation; empty before the first."""
    found = sorted(path for pattern in CHANGING for path in run_dir.glob(pattern))
    return " ".join(f"{path}:{path.stat().st_mtime_ns}" for path in found)
