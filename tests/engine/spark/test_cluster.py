"""A real cluster: Spark's standalone master and some workers on this machine, one of which is lost on the way."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from long import PATIENCE, rare
from pyspark.sql import SparkSession
from servers import object_store

from benchmarks.standalone import cluster
from workbench.engine.spark.arrow_tasks import ArrowBatches, run_tasks
from workbench.engine.spark.cluster import asker, prepare_workers, unready
from workbench.engine.spark.failures import translate_errors
from workbench.engine.spark.jobs import PlanJob, SparkJobs, StepJob
from workbench.engine.spark.probe import Probe, versions
from workbench.engine.spark.python_steps import ANSWER
from workbench.errors import EngineError

PROJECT = Path(__file__).parents[3]


def run_driver(folder: Path, before: Sequence[str], *arguments: str) -> str:
    """What a driver of ten queries prints; ``before``: the command that runs it."""
    driver = subprocess.run(
        [*before, sys.executable, str(Path(__file__).with_name("cluster_driver.py")), *arguments],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(PROJECT), str(PROJECT / "tests")])},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=0.95 * PATIENCE,
        check=False,
    )
    assert driver.returncode == 0, driver.stderr[-4000:]
    assert re.search(r"workers import \S+workbench\.zip", driver.stdout), driver.stdout
    assert re.search(r"\d\d queries equal the oracle's in every batch, [1-9]\d* with answers", driver.stdout)
    return driver.stdout


@rare
@pytest.mark.spark
@pytest.mark.timeout(PATIENCE)
def test_queries_on_a_cluster_that_loses_a_worker(tmp_path: Path) -> None:
    with cluster(tmp_path, 2) as (address, (lost, _)):
        run_driver(tmp_path, [], address, str(lost.pid))
        assert lost.wait(120) == -signal.SIGKILL


@rare
@pytest.mark.spark
@pytest.mark.timeout(PATIENCE)
@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives the driver a disk that workers do not see")
def test_a_cluster_whose_workers_have_no_folder_loses_one(tmp_path: Path) -> None:
    (own := tmp_path / "own").mkdir()
    (objects := tmp_path / "objects").mkdir()
    mounted = ["unshare", "-m", "sh", "-c", f'mount -t tmpfs none {own} && TMPDIR={own} exec "$@"', "driver"]
    with object_store(objects) as store, cluster(tmp_path, 3) as (address, (lost, *_)):
        said = run_driver(tmp_path, mounted, address, str(lost.pid), f"{store}/session")
        assert "workers see the folder: False" in said and lost.wait(120) == -signal.SIGKILL
        assert re.search("workers lose [1-9]", said)


def test_a_local_spark_needs_no_preparation(spark: SparkSession, tmp_path: Path) -> None:
    prepare_workers(spark, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_workers_lack_is_named(spark: SparkSession, tmp_path: Path) -> None:
    assert (
        unready(asker(spark.sparkContext), 2, tmp_path)
        == unready(asker(spark.sparkContext), 2, tmp_path, writing=False)
        == []
    )
    assert list(tmp_path.iterdir()) == []
    folder, module = unready(asker(spark.sparkContext), 2, tmp_path / "elsewhere", modules=["numpy", "no_such_module"])
    assert re.fullmatch(r"\S+elsewhere cannot be written on \S+", folder)
    (unread,) = unready(asker(spark.sparkContext), 2, tmp_path / "elsewhere", writing=False)
    assert re.fullmatch(r"\S+elsewhere cannot be read on \S+", unread)
    assert re.fullmatch(r"no_such_module is not installed on \S+", module)


def test_a_worker_has_the_folder_and_the_versions_of_the_driver(tmp_path: Path) -> None:
    probe = Probe(str(tmp_path), {**versions(["numpy"]), "Python": "2.7.18"}, "probe", "nonce")
    (tmp_path / "probe").write_text("of an earlier run")  # or a folder of that name on a disk of the worker's own
    python, folder = probe.problems(0)
    assert re.fullmatch(r"Python is 3\.\S+ on \S+, and 2\.7\.18 here", python)
    assert re.fullmatch(r"\S+ is another folder, or shows new files very late, on \S+", folder)
    (tmp_path / "probe").write_text("nonce")
    assert replace(probe, versions=versions(["numpy"])).problems(3) == []
    assert probe.holds(probe.of_task(3)) and not probe.holds(probe.of_task(4), seconds=0.1)
    (unlike,) = Probe(str(tmp_path), versions([]), names=["catalog.sqlite"]).problems(0)
    assert re.fullmatch(r"\S+ is another folder on \S+", unlike)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has files of another user")
def test_a_worker_that_is_another_user_says_so(tmp_path: Path) -> None:
    os.chown(tmp_path, 12_345, 12_345)
    tmp_path.chmod(0o500)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "access", lambda *_: False)  # root may do all
        (problem,) = Probe(str(tmp_path), versions([]), "probe", "nonce").problems(0)
    assert re.fullmatch(r"\S+ cannot be written by user 0 on \S+", problem)


def test_what_a_worker_raises_is_said(spark: SparkSession, tmp_path: Path) -> None:
    def fails(task: int) -> ArrowBatches:
        raise ValueError(f"no task {task}\nand more")

    for job in (PlanJob(run_tasks(spark, 1, fails, ANSWER)), StepJob(fails, 1, tmp_path)):
        with (
            pytest.raises(EngineError, match=r"^Spark could not look: ValueError: no task 0\n"),
            translate_errors("look"),
        ):
            SparkJobs(spark).run([job], [1.0])
