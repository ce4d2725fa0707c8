"""Workers are killed, replaced and counted; nothing of a batch is lost. Limits here are small."""

import gc
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

from setrl_grader import MathGrader, Reason, workers
from setrl_grader.errors import WorkersError
from setrl_grader.workers import CRASH, TIMEOUT, WorkerPool

HANGS = r"1+\sqrt{x}" + "+x^{x^x}-x^{x^x}" * 110  # right, and it takes ten seconds to see that
FITS = {"gold": r"\sqrt{x}+1", "answer": r"1+\sqrt{x}", "relative_tolerance": 1e-6, "units": False}
DIFFERS = {**FITS, "answer": r"\sqrt{x}+2"}
TOWER = {**FITS, "answer": HANGS}


@pytest.fixture(scope="module")
def pool():
    value = WorkerPool(workers=2, time_limit_s=1.0, memory_mb=512)
    yield value
    value.close()


@pytest.fixture
def new_pool():
    value = WorkerPool(workers=1, time_limit_s=1.0, memory_mb=512)
    yield value
    value.close()


def pids(pool: WorkerPool) -> list[int]:
    return [worker.pid for worker in pool.idle]


def verdicts(pool: WorkerPool, jobs: list[dict]) -> list[str]:
    """What a pool says of each job: a failure, or whether both are equal."""
    replies = pool.run(jobs)
    said = {True: "equal", False: "different"}
    return [each if isinstance(each, str) else said[each["equal"]] for each in replies]


def is_running(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):  # it may end while it is read
        return False


def wait_until(condition) -> None:
    for _ in range(500):
        if condition():
            return
        time.sleep(0.02)
    pytest.fail("never")


def test_hanging_answers_are_killed_and_counted_and_the_others_are_right():
    grader = MathGrader(workers=2, time_limit_s=1.0)
    gold = r"\sqrt{x}+1"
    other_hangs = HANGS.replace("1+", "2-1+")
    same = r"\frac{x-1}{\sqrt{x}-1}"
    answers = [r"1+\sqrt{x}", HANGS, r"\sqrt{x}+2", other_hangs, gold, same, "7"]
    grades = grader.grades([rf"\boxed{{{each}}}" for each in answers], [gold] * len(answers))
    grader.close()
    assert [grade.reason for grade in grades] == [
        Reason.EQUAL, Reason.TIMEOUT, Reason.DIFFERENT, Reason.TIMEOUT, Reason.EQUAL, Reason.EQUAL,
        Reason.DIFFERENT,
    ]  # fmt: skip
    assert [grade.reward for grade in grades] == [1, 0, 0, 0, 1, 1, 0]
    assert (grader.counts.timeouts, grader.counts.fast, grader.counts.slow) == (2, 2, 5)


def test_a_worker_that_stands_still_is_killed_by_the_clock(new_pool, monkeypatch):
    new_pool.run([FITS])
    (stopped,) = pids(new_pool)
    os.kill(stopped, signal.SIGSTOP)
    monkeypatch.setattr(workers, "CLOCK_FACTOR", 1)
    assert verdicts(new_pool, [FITS]) == [TIMEOUT]
    wait_until(lambda: not is_running(stopped))
    monkeypatch.undo()
    assert verdicts(new_pool, [FITS]) == ["equal"]


def test_a_worker_that_ended_is_replaced_and_its_job_done_by_another(pool):
    pool.run([FITS])
    (pid,) = pids(pool)
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not is_running(pid))
    assert verdicts(pool, [FITS, DIFFERS]) == ["equal", "different"]
    assert pid not in pids(pool)


def test_a_job_at_which_a_worker_fails_is_a_crash(pool):
    # A job without its fields is an error within the worker, which answers and ends.
    assert verdicts(pool, [FITS, {}, DIFFERS]) == ["equal", CRASH, "different"]


def test_a_job_that_ends_two_workers_is_a_crash(pool, monkeypatch):
    give = workers._Batch._give

    def give_and_kill(batch, worker, job):
        give(batch, worker, job)
        if batch.jobs[job] == TOWER:
            os.kill(worker.pid, signal.SIGKILL)
            given.append(worker.pid)

    given: list[int] = []
    monkeypatch.setattr(workers._Batch, "_give", give_and_kill)
    assert verdicts(pool, [FITS, TOWER, DIFFERS]) == ["equal", CRASH, "different"]
    assert len(set(given)) == 2


def test_a_crash_is_a_wrong_answer_that_is_counted(monkeypatch):
    grader = MathGrader()
    monkeypatch.setattr(grader.pool, "run", lambda jobs: [CRASH for _ in jobs])
    assert grader.grade(r"\boxed{\sqrt{x}}", r"x^{1/2}").reward == 0
    assert grader.counts.crashes == 1


def test_a_worker_that_wants_too_much_memory_does_not_get_it():
    pool = WorkerPool(workers=1, time_limit_s=5.0, memory_mb=64)
    greedy = {**FITS, "gold": "5", "answer": r"10^{10^{9}}+\sqrt{2}"}
    assert verdicts(pool, [greedy])[0] != "equal"
    assert verdicts(pool, [FITS]) == ["equal"]
    for pid in pids(pool):
        with open(f"/proc/{pid}/limits") as file:
            limit = next(line for line in file if line.startswith("Max address space"))
        with open(f"/proc/{pid}/statm") as file:
            size = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
        assert size <= int(limit.split()[3]) <= size + 64 * 2**20
    pool.close()


def test_workers_are_renewed_after_some_jobs(pool, monkeypatch):
    monkeypatch.setattr(workers, "JOBS_A_WORKER", 2)
    assert verdicts(pool, [FITS] * 3) == ["equal"] * 3
    assert all(worker.served < 2 for worker in pool.idle)


def test_all_processes_end_when_the_pool_is_closed_or_collected():
    for end in (WorkerPool.close, lambda _: None):
        pool = WorkerPool(workers=1, time_limit_s=1.0, memory_mb=512)
        pool.run([FITS])
        seen = [*pids(pool), pool._process.pid]
        assert all(map(is_running, seen))
        end(pool)
        del pool
        gc.collect()
        wait_until(lambda seen=seen: not any(map(is_running, seen)))


def test_all_processes_end_with_the_program_even_when_it_is_killed(tmp_path):
    # The script has no `if __name__ == "__main__"`: workers must not run it again.
    script = tmp_path / "trainer.py"
    script.write_text(
        textwrap.dedent(
            """
            import sys, time
            from setrl_grader import MathGrader
            grader = MathGrader(workers=1)
            assert grader.grade(r"\\boxed{3\\ln 2}", r"\\ln 8").correct
            print(grader.pool.idle[0].pid, grader.pool._process.pid, flush=True)
            time.sleep(float(sys.argv[1]))
            """
        )
    )
    for sleep, kill in (("0", False), ("60", True)):
        program = subprocess.Popen(
            [sys.executable, str(script), sleep], stdout=subprocess.PIPE, text=True
        )
        seen = [int(pid) for pid in program.stdout.readline().split()]
        assert len(seen) == 2
        if kill:
            program.kill()
        assert program.stdout.read() == ""
        program.wait()
        wait_until(lambda seen=seen: not any(map(is_running, seen)))


def test_threads_may_share_a_pool(pool):
    found: dict[int, list[str]] = {}

    def work(number: int) -> None:
        found[number] = verdicts(pool, [FITS, DIFFERS] * number)

    threads = [threading.Thread(target=work, args=(number,)) for number in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: ["equal", "different"] * number for number in (1, 2, 3)}


def test_an_answer_that_takes_long_does_not_stop_other_threads(pool):
    pool.run([FITS, FITS])
    slow = threading.Thread(target=pool.run, args=([TOWER],))
    slow.start()
    wait_until(lambda: len(pool.idle) == 1)
    assert verdicts(pool, [FITS, DIFFERS]) == ["equal", "different"]
    assert slow.is_alive()
    slow.join()
    assert len(pool.idle) == 1


FORKS = """
import os, sys
from setrl_grader.workers import WorkerPool
pool = WorkerPool(1, 60.0, 1024)
job = {job!r}

def works():
    [verdict] = pool.run([job])
    return verdict["equal"]

def child(check):
    pid = os.fork()
    if pid == 0:
        good = check()
        pool.close()
        os._exit(0 if good else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0

with pool._lock:
    child(works)  # the lock that is held here is free there
assert works()
before = [worker.pid for worker in pool.idle]
child(lambda: works() and before != [worker.pid for worker in pool.idle])
assert works()
assert before == [worker.pid for worker in pool.idle]
"""


def test_a_forked_process_starts_workers_of_its_own():
    """In a process without the threads that other tests start here."""
    code = FORKS.replace("{job!r}", repr(FITS))
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True)


def test_when_the_process_that_starts_workers_ends_it_is_started_again(pool):
    pool.run([FITS])
    zygote = pool._process.pid
    os.killpg(zygote, signal.SIGKILL)
    wait_until(lambda: not is_running(zygote))
    assert verdicts(pool, [FITS, DIFFERS]) == ["equal", "different"]
    assert pool._process.pid != zygote


def test_workers_that_cannot_be_started_are_an_error(new_pool, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(WorkersError, match="cannot be started"):
        new_pool.run([FITS])


def test_without_mpmath_it_says_what_to_install(new_pool, monkeypatch):
    monkeypatch.setattr(workers.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"needs mpmath: pip install 'mpmath>=1\.3'"):
        new_pool.run([FITS])


def test_an_interrupted_batch_leaves_no_worker_at_its_job(new_pool, monkeypatch):
    new_pool.run([FITS])
    (pid,) = pids(new_pool)

    give = workers._Batch._give

    def give_and_interrupt(*arguments):
        give(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(workers._Batch, "_give", give_and_interrupt)
    with pytest.raises(KeyboardInterrupt):
        new_pool.run([TOWER])
    monkeypatch.undo()
    wait_until(lambda: not is_running(pid))
    assert verdicts(new_pool, [FITS]) == ["equal"]


def test_a_pool_is_pickled_by_its_limits():
    pool = pickle.loads(pickle.dumps(WorkerPool(3, 2.0, 128)))
    assert (pool.workers, pool.time_limit_s, pool.memory_mb) == (3, 2.0, 128)


def test_no_jobs_start_nothing(new_pool):
    assert new_pool.run([]) == []
    assert new_pool._process is None
