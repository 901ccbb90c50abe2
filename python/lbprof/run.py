"""Recorded runs as frames of pandas or polars.

A run asks lb-report for its JSON, or for its tables as Parquet files, when one of them is first needed, and keeps them. docs/report-json.md and
docs/exports.md have the meaning of all columns.

SPDX-License-Identifier: MIT OR Apache-2.0
"""

import html
import importlib
import json
import os
import shutil
import subprocess
import sysconfig
import tempfile
import warnings
from functools import cached_property
from pathlib import Path
from typing import Any, Dict, List, Optional, Union

#: What a table can be: a frame of pandas or polars, or a list with a dict for each row.
FRAMES = ("pandas", "polars", "rows")

#: How lb-report ends where it made the report, of all data or of incomplete data.
_GOOD, _INCOMPLETE = 0, 4

Row = Dict[str, Any]


class ReportError(Exception):
    """lb-report failed: its text, and its exit code (docs/report-reference.md)."""

    def __init__(self, text: str, code: int) -> None:
        super().__init__(text)
        self.code = code


def open_run(
    folder: "Union[str, os.PathLike[str], None]" = None,
    *,
    ranks: Optional[str] = None,
    start: Optional[str] = None,
    end: Optional[str] = None,
    region: Optional[str] = None,
    frames: Optional[str] = None,
    lb_report: "Union[str, os.PathLike[str], None]" = None,
) -> "Run":
    """Opens a run that was recorded into a folder, by default the newest ``lbprof-out*`` here.

    ``ranks``, ``start``, ``end`` and ``region`` select a part of it, as ``--ranks``, ``--from``, ``--to`` and ``--region`` do: ``"0-63:4"``,
    ``"iteration=10"``, ``"force"``. ``frames`` says what tables are: ``"pandas"``, ``"polars"`` or ``"rows"``, a list of dicts; by default the
    first of these that is installed. ``lb_report`` is the command to use, if it is not the one that belongs to this package.

    Nothing is read before the first figure is asked for.
    """
    folder = Path(folder) if folder is not None else _newest()
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder}: there is no such folder")
    if frames is not None and frames not in FRAMES:
        raise ValueError(f"frames={frames!r}: one of {', '.join(FRAMES)}")
    options = {"--ranks": ranks, "--from": start, "--to": end, "--region": region}
    selection = [f"{option}={value}" for option, value in options.items() if value is not None]
    return Run(folder, selection, frames, str(lb_report) if lb_report is not None else find_lb_report())


class Run:
    """A run. Made by :func:`lbprof.open`."""

    def __init__(self, folder: Path, selection: List[str], frames: Optional[str], lb_report: str) -> None:
        self.folder = folder
        self._selection, self._frames, self._lb_report = selection, frames, lb_report
        self._tables: Dict[str, Any] = {}
        self._warned = False

    @cached_property
    def report(self) -> Dict[str, Any]:
        """Returns the report as its JSON document, docs/report-json.md, with all rows."""
        document = json.loads(self._ask([str(self.folder), "--json", "--full"]))
        assert isinstance(document, dict)
        return document

    @cached_property
    def text(self) -> str:
        """Returns the first screen of the report."""
        return self._ask([str(self.folder), "--color=never"])

    def efficiencies(self) -> Any:
        """Returns the efficiencies: a row for the whole run, or the selected part of it, and one for each region, by ``path``."""
        whole = {"path": None, **self.report["efficiency"]}
        regions = [{"path": region["path"], **region["efficiency"]} for region in self.report["regions"]]
        return self._frame("efficiencies", [whole, *regions])

    def ranks(self) -> Any:
        """Returns a row for each rank."""
        return self._frame("ranks", self.report["ranks"])

    def regions(self) -> Any:
        """Returns a row for each region."""
        return self._frame("regions", self.report["regions"])

    def callsites(self) -> Any:
        """Returns a row for each call site, operation and activity: sums over ranks."""
        return self._frame("callsites", self.report["callsites"])

    def findings(self) -> Any:
        """Returns what the run loses time by: the answer first, then the largest."""
        return self._frame("findings", self.report["findings"])

    def iterations(self) -> Any:
        """Returns a row for each iteration of a region on a rank."""
        return self._parquet("iterations")

    def call_paths(self) -> Any:
        """Returns a row for each call path, operation, region and rank."""
        return self._parquet("call_paths")

    def calls(self) -> Any:
        """Returns a row for each call. A run that was recorded in profile mode has none."""
        return self._parquet("calls")

    def messages(self) -> Any:
        """Returns a row for each message of which both sides are known; likewise."""
        return self._parquet("messages")

    def waits(self) -> Any:
        """Returns a row for each wait of a thread; likewise."""
        return self._parquet("waits")

    def __repr__(self) -> str:
        return f"<lbprof run {' '.join([str(self.folder), *self._selection])}>"

    def __str__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        # Jupyter's own style has the text in a proportional font.
        style = "font-family: var(--jp-code-font-family, monospace); font-size: small; line-height: 1.2"
        return f'<pre style="{style}">{html.escape(self.text)}</pre>'

    def _ask(self, arguments: List[str]) -> str:
        """Runs lb-report on the selected part, and returns what it prints."""
        command = [self._lb_report, *arguments, *self._selection, "--quiet"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace", check=False)
        if done.returncode not in (_GOOD, _INCOMPLETE):
            raise ReportError(done.stderr.strip() or f"lb-report ended with exit code {done.returncode}", done.returncode)
        if done.returncode == _INCOMPLETE and not self._warned:
            self._warned = True
            warnings.warn(f"{self.folder}: the data are incomplete; print(run) says what is missing", stacklevel=2)
        return done.stdout

    def _kind(self) -> str:
        """Returns what tables are."""
        if self._frames is None:
            self._frames = next((kind for kind in FRAMES[:2] if _is_installed(kind)), "rows")
        return self._frames

    def _frame(self, name: str, rows: List[Row]) -> Any:
        """Returns rows of the report as a table: ``{"a": {"b": 1}}`` is 1 in the column ``a.b``, lists stay as they are."""
        if name not in self._tables:
            flat = [_flat(row) for row in rows]
            # Keys that only some rows have, such as activities.
            columns = list(dict.fromkeys(column for row in flat for column in row))
            flat = [{column: row.get(column) for column in columns} for row in flat]
            kind = self._kind()
            if kind == "pandas":
                self._tables[name] = importlib.import_module("pandas").DataFrame(flat, columns=columns)
            elif kind == "polars":
                self._tables[name] = importlib.import_module("polars").DataFrame(flat, infer_schema_length=None)
            else:
                self._tables[name] = flat
        return self._tables[name]

    @cached_property
    def _parquet_folder(self) -> "tempfile.TemporaryDirectory[str]":
        """Returns a folder with the tables as Parquet files, which goes away with the run."""
        folder = tempfile.TemporaryDirectory(prefix="lbprof-")
        self._ask(["export", "parquet", str(self.folder), "-o", folder.name])
        return folder

    def _parquet(self, name: str) -> Any:
        """Returns a table that is exported."""
        if name not in self._tables:
            path = Path(self._parquet_folder.name) / f"{name}.parquet"
            if not path.exists():
                raise LookupError(f"the run has no {name}: it was recorded in profile mode (LBPROF_MODE=profile), which keeps sums only")
            self._tables[name] = _read_parquet(path, self._kind())
        return self._tables[name]


def _read_parquet(path: Path, kind: str) -> Any:
    try:
        if kind == "polars":
            return importlib.import_module("polars").read_parquet(path)
        if kind == "pandas":
            return importlib.import_module("pandas").read_parquet(path)
        return importlib.import_module("pyarrow.parquet").read_table(path).to_pylist()
    except ImportError as error:
        raise ImportError("this table is a Parquet file: install polars, or pandas with pyarrow (pip install lbprof[pandas])") from error


def _flat(row: Row, before: str = "") -> Row:
    """Returns a row whose objects are columns of their own."""
    flat: Row = {}
    for key, value in row.items():
        if isinstance(value, dict):
            flat.update(_flat(value, f"{before}{key}."))
        else:
            flat[before + key] = value
    return flat


def _is_installed(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


def _newest() -> Path:
    """Returns the newest run in the current folder."""
    runs = [path for path in Path().glob("lbprof-out*") if path.is_dir()]
    if not runs:
        raise FileNotFoundError("there is no folder lbprof-out* here")
    return max(runs, key=lambda path: path.stat().st_mtime)


def find_lb_report() -> str:
    """Returns the lb-report that was installed with this package, or the one on the path."""
    # PREFIX/lbprof by pip --target, PREFIX/lib/python3.N/site-packages/lbprof by pip, PREFIX/share/lbprof/python/lbprof by scripts/install.
    around = Path(__file__).absolute().parents
    prefixes = [around[number] for number in (1, 4) if number < len(around)]
    for folder in [*(prefix / "bin" for prefix in prefixes), Path(sysconfig.get_path("scripts"))]:
        if (folder / "lb-report").is_file():
            return str(folder / "lb-report")
    found = shutil.which("lb-report")
    if found is None:
        raise FileNotFoundError("lb-report is neither installed with this package nor on the path")
    return found
