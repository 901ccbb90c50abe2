"""Runs as frames: what they have is what lb-report says. scripts/tests/python has the folder of a run, and lb-report, in the environment."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import lbprof

FOLDER = os.environ["LB_TEST_RUN"]
LB_REPORT = os.environ["LB_TEST_REPORT"]


def opened(**options):
    return lbprof.open(FOLDER, lb_report=LB_REPORT, **options)


@pytest.fixture(scope="module")
def report():
    done = subprocess.run([LB_REPORT, FOLDER, "--json", "--full", "--quiet"], stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def test_tables_of_pandas_have_the_figures_of_the_report(report):
    run = opened(frames="pandas")
    assert run.report == report
    efficiencies = run.efficiencies().set_index("path")
    assert efficiencies.loc["main/step", "load_balance"] == report["regions"][1]["efficiency"]["load_balance"]
    assert efficiencies.iloc[0]["parallel"] == report["efficiency"]["parallel"]
    ranks = run.ranks()
    assert list(ranks["computation_s"]) == [row["computation_s"] for row in report["ranks"]]
    assert ranks["activities.collective"].sum() == pytest.approx(sum(row["activities"]["collective"] for row in report["ranks"]))
    assert list(run.regions()["path"]) == [row["path"] for row in report["regions"]]
    assert run.callsites()["calls"].sum() == sum(row["calls"] for row in report["callsites"])
    assert list(run.findings()["kind"]) == [row["kind"] for row in report["findings"]]


def test_tables_of_events_are_complete(report):
    run = opened(frames="pandas")
    assert len(run.messages()) == report["blocking"]["matching"]["messages"]
    assert len(run.waits()) == sum(state["count"] for state in report["blocking"]["states"])
    iterations = run.iterations()
    assert iterations["iteration"].nunique() == report["iterations"]["count"]
    calls = run.calls()
    sends = calls[calls["operation"] == "MPI_Isend"]
    assert len(sends) == sum(row["calls"] for row in report["callsites"] if row["operation"] == "Isend")
    assert run.call_paths()["calls"].sum() >= len(calls)


def test_polars_and_rows_have_the_same():
    pandas, polars, rows = (opened(frames=frames) for frames in ["pandas", "polars", "rows"])
    assert polars.ranks()["mpi_s"].to_list() == list(pandas.ranks()["mpi_s"]) == [row["mpi_s"] for row in rows.ranks()]
    assert polars.calls().shape == pandas.calls().shape
    assert len(rows.calls()) == len(pandas.calls())


def test_a_part_can_be_selected():
    run = opened(frames="rows", ranks="0-3", region="step")
    assert [row["rank"] for row in run.ranks()] == [0, 1, 2, 3]
    assert "--ranks=0-3 --region=step" in repr(run)
    assert {row["rank"] for row in run.calls()} == {0, 1, 2, 3}


def test_nothing_is_read_before_it_is_needed_and_then_once(tmp_path):
    log = tmp_path / "log"
    script = tmp_path / "lb-report"
    script.write_text(f'#!/bin/sh\necho "$1" >>{log}\nexec {LB_REPORT} "$@"\n')
    script.chmod(0o755)
    run = lbprof.open(FOLDER, lb_report=script, frames="pandas")
    assert not log.exists()
    run.ranks(), run.regions(), run.efficiencies(), run.ranks()
    assert len(log.read_text().splitlines()) == 1
    run.iterations(), run.calls()
    assert log.read_text().splitlines() == [FOLDER, "export"]


def test_a_notebook_shows_the_first_screen():
    run = opened()
    shown = run._repr_html_()
    assert "parallel efficiency" in shown and shown.startswith("<pre") and "monospace" in shown and "&lt;" not in str(run)
    assert str(run).startswith("./scenario")


def test_errors_are_those_of_lb_report(tmp_path):
    with pytest.raises(FileNotFoundError):
        lbprof.open(tmp_path / "none")
    with pytest.raises(lbprof.ReportError) as error:
        opened(ranks="1000").ranks()
    assert error.value.code == 2
    with pytest.raises(ValueError):
        opened(frames="arrow")
    with pytest.raises(lbprof.ReportError) as error:
        lbprof.open(tmp_path, lb_report=LB_REPORT).report
    assert error.value.code == 5


def test_the_newest_run_is_the_default(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError):
        lbprof.open(lb_report=LB_REPORT)
    for number, name in enumerate(["lbprof-out", "lbprof-out-2", "other"]):
        Path(name).mkdir()
        os.utime(name, (number, number))
    assert lbprof.open(lb_report=LB_REPORT).folder.name == "lbprof-out-2"


def test_without_pandas_and_polars_there_are_rows_and_advice():
    program = (
        "import sys; sys.modules['pandas'] = sys.modules['polars'] = sys.modules['pyarrow'] = None\n"
        f"import lbprof; run = lbprof.open({FOLDER!r}, lb_report={LB_REPORT!r})\n"
        "print(len(run.ranks()), type(run.ranks()[0]).__name__)\n"
        "try: run.calls()\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=True)
    rows, advice = done.stdout.splitlines()
    assert rows == "8 dict" and "pip install lbprof[pandas]" in advice


def test_a_program_that_marks_phases_imports_the_standard_library_alone():
    program = "import lbprof, sys; print(lbprof.recorded(), [name for name in ['json', 'subprocess', 'pandas', 'polars'] if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout == "False []\n"


def test_markers_do_nothing_where_nothing_is_recorded():
    with lbprof.phase("force", lbprof.CONTROL), lbprof.iteration("step"):
        lbprof.work(operations=1)
    assert list(lbprof.iterations(range(3), "step")) == [0, 1, 2]
    assert lbprof.phased("name")(max)(1, 2) == lbprof.phased(max)(1, 2) == 2


def test_the_notebook_of_the_examples_runs(tmp_path, monkeypatch):
    notebook = json.loads((Path(__file__).parents[2] / "examples/python/recorded_run.ipynb").read_text())
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    (tmp_path / "lbprof-out").symlink_to(FOLDER)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(LB_REPORT).parent), prepend=":")
    names = {}
    for cell in cells:
        exec(cell, names)
    assert len(cells) >= 4 and names["run"].folder.name == "lbprof-out"


@pytest.mark.parametrize("layout", ["share/lbprof/python", "lib/python3.11/site-packages", "."])
def test_lb_report_is_found_however_the_package_was_installed(tmp_path, layout):
    prefix = tmp_path / "pre fix"
    package = prefix / layout
    package.mkdir(parents=True)
    (package / "lbprof").symlink_to(Path(lbprof.__file__).parent)
    command = prefix / "bin/lb-report"
    command.parent.mkdir()
    command.write_text('#!/bin/sh\necho "$0" "$@"\n')
    command.chmod(0o755)
    module = [sys.executable, "-m", "lbprof", "lbprof-out", "--full"]
    done = subprocess.run(module, env={**os.environ, "PYTHONPATH": str(package)}, stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout == f"{command} lbprof-out --full\n"
