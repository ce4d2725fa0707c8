"""Films of trained policies."""

from __future__ import annotations

import json
import shutil

import gymnasium as gym
import imageio.v3 as imageio
import numpy as np
import pytest

from setrl import cli
from setrl.control import watch
from setrl.control.config import ControlConfig
from setrl.control.resolved import resolve
from setrl.control.run import run_control
from setrl.control.tasks import from_config
from setrl.support.errors import ConfigError, DataError, RunError
from tests.at_once import at_once


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory):
    folder = tmp_path_factory.mktemp("watch")
    config = ControlConfig(
        name="watched",
        task={
            "name": "studies.triangles:Triangles",
            "nodes": 12,
            "edge_probability": 0.6,
            "episodes": 32,
        },
        arms={"ppo": {}},
        total_steps=96,
        ppo={"n_envs": 4, "n_steps": 12, "batch_size": 48, "n_epochs": 1},
        workers=1,
    )
    with at_once():
        resolved = resolve(config)
        return run_control(resolved, folder / "run", cache=folder / "cache", show_progress=False)


def test_one_rollout_for_each_way_the_commonest_first(run_dir):
    resolved = watch._load_config(run_dir)
    task, model = resolved.task, watch._load_trained_model(resolved, run_dir, "ppo", 0)
    found = watch.one_per_strategy(model, task, 5, 64, np.random.default_rng(0))
    assert len({one.label for one in found}) == len(found) == 5
    shares = [one.share for one in found]
    assert shares == sorted(shares, reverse=True)
    assert all(len(one.frames) == 4 for one in found)  # the start, and three steps


def test_a_film_is_written(run_dir, tmp_path):
    film = watch.watch(run_dir, output=tmp_path / "a" / "film.gif", most=3, episodes=32)
    frames = imageio.imread(film)
    assert len(frames) == 4  # equal frames at the end are one that is held
    assert frames.shape[2] == 3 * (192 + watch.GAP)


def test_the_command_says_where_it_is_in_json_too(run_dir, tmp_path, capsys):
    film = tmp_path / "film.gif"
    options = ["--output", str(film), "--strategies", "2", "--episodes", "32"]
    for more in ([], ["--json"]):
        with pytest.raises(SystemExit) as left:
            cli.main(["control", "watch", str(run_dir), *options, *more])
        assert left.value.code == 0
    text, _, said = capsys.readouterr().out.partition("{")
    assert text == f"film: {film}\n"
    found = json.loads("{" + said)
    assert found["film"] == str(film)
    assert imageio.imread(film).shape[2] == 2 * (192 + watch.GAP)


def test_a_file_of_others_is_not_replaced(run_dir, tmp_path):
    theirs = "film.gif"
    (tmp_path / theirs).write_bytes(b"GIF89a of a holiday")
    with pytest.raises(ConfigError, match=f"{theirs} exists already and is not a film"):
        watch.watch(run_dir, output=tmp_path / "film.gif", most=1, episodes=32)
    assert (tmp_path / theirs).read_bytes() == b"GIF89a of a holiday"
    (tmp_path / theirs).unlink()
    for _ in range(2):  # its own files are replaced
        watch.watch(run_dir, output=tmp_path / "film.gif", most=1, episodes=32)


def test_frames_replay_the_episode():
    task = from_config({"name": "multi_goal", "max_steps": 12})
    env = watch._Marked(watch.make_resettable(task.make_env()))
    _, info = env.reset(seed=0)
    shown = [env.render()]
    for action in (2, 1, 2, 2):
        env.step(action)
        shown.append(env.render())
    episode = watch.Trajectory(
        np.zeros((5, 1)), np.array([2, 1, 2, 2]), np.zeros(4), (info, *[{}] * 4), True, False
    )
    np.testing.assert_array_equal(watch.replay_frames(task, episode), shown)


def test_rollouts_that_are_over_stay_on_their_last_frame():
    frames = [np.full((8, 8, 3), value, np.uint8) for value in (10, 20, 30)]
    film = watch.side_by_side(
        [watch.Rollout("a", 0.5, tuple(frames)), watch.Rollout("b", 0.5, (frames[0],))]
    )
    assert len(film) == 3
    corner = film[-1][-1]  # of the last row of dots
    assert corner[0, 0] == 30
    assert corner[8 + watch.GAP, 0] == 10


def of_another_machine(run_dir, tmp_path, monkeypatch):
    """A copy of a run, read where the key of its seals is not."""
    copy = shutil.copytree(run_dir, tmp_path / "copy")
    monkeypatch.setenv("SETRL_CACHE", str(tmp_path / "another"))
    return copy


def test_a_policy_of_another_machine_can_be_watched(run_dir, tmp_path, monkeypatch):
    copy = of_another_machine(run_dir, tmp_path, monkeypatch)
    (copy / "ppo/seed_0/final/model.zip").unlink()  # no pickle is read
    here = watch.watch(run_dir, output=tmp_path / "here.gif", most=2, episodes=32)
    there = watch.watch(copy, output=tmp_path / "there.gif", most=2, episodes=32)
    assert here.read_bytes() == there.read_bytes()


@pytest.mark.parametrize("content", [b"", b"x" * 100])
def test_a_damaged_policy_is_named(run_dir, tmp_path, content):
    copy = shutil.copytree(run_dir, tmp_path / "copy")
    (copy / "ppo/seed_0/final/policy.safetensors").write_bytes(content)
    with pytest.raises(RunError, match=r"policy\.safetensors is damaged"):
        watch.watch(copy, most=2, episodes=8)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"arm": "pop"}, "ppo"),
        ({"seed": 7}, "seed 7 is not finished"),
        ({"output": "film.mp4"}, r"must end in \.gif, got 'film\.mp4'"),
    ],
)
def test_wrong_names_are_refused(run_dir, tmp_path, wrong, sentence):
    if "output" in wrong:
        wrong = {"output": tmp_path / wrong["output"], "episodes": 16}
    with pytest.raises(ConfigError, match=sentence):
        watch.watch(run_dir, **wrong)
    with pytest.raises(ConfigError, match="is not a control run"):
        watch.watch(tmp_path)


def test_a_policy_without_success_has_nothing_to_watch(run_dir):
    task = from_config({"name": "multi_goal", "max_steps": 1})
    from stable_baselines3 import PPO

    model = PPO("MlpPolicy", task.make_env(), n_steps=8, batch_size=8, seed=0, device="cpu")
    with pytest.raises(DataError, match="of 4 episodes, none succeeded"):
        watch.one_per_strategy(model, task, 5, 4, np.random.default_rng(0))


def test_a_caption_says_what_its_numbers_are():
    cells = watch.Rollout(frozenset({10, 2, 1}), 0.125, ())
    assert watch._write_caption(cells) == "12.5% of episodes\nstrategy 1, 2, 10"
    assert (
        watch._write_caption(watch.Rollout("left", 1.0, ())) == "100.0% of episodes\nstrategy left"
    )


def test_pictures_are_drawn_without_a_display_and_in_silence(monkeypatch, capfd):
    pygame = pytest.importorskip("pygame")
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    pygame.display.quit()
    env = gym.make("FrozenLake-v1", render_mode="rgb_array")
    env.reset(seed=0)
    assert watch._render_frame(env).shape == (256, 256, 3)
    assert "XDG_RUNTIME_DIR" not in capfd.readouterr().err
