"""The engine of kernels: what a kernel may use, and a cache that no edit can leave stale."""

from __future__ import annotations

import importlib
import io
import os
import pickle
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import numba
import numpy as np
import pytest

from obliv import kernels
from obliv._util.arrays import Array
from obliv.kernels import Kernel, kernel, run
from obliv.loads._kernels import coarsen

CALLER = """
from deep import Pair, scaled
from obliv.kernels import kernel

@kernel
def total(pair, values):
    result = 0
    for k in range(len(values)):
        result += scaled(values[k]) + pair.first[0]
    return result
"""
CALLEE = """
from typing import NamedTuple

import numpy as np
from numbers_ import FACTOR, TABLE
from obliv.kernels import kernel

class Pair(NamedTuple):
    first: object
    second: object

@kernel
def scaled(x):
    return FACTOR * x + TABLE[1]
"""
CONSTANTS = """
import numpy as np

FACTOR = 2
TABLE = np.array([7, 0])
"""
SCRIPT = """
import numpy as np
from top import Pair, total

machine = total.compiled()
answer = machine(Pair(first=np.array([0]), second=np.array([1000])), np.array([1, 10, 100]))
print(answer, sum(machine.stats.cache_hits.values()))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the three modules above."""
    for name, text in (("top.py", CALLER), ("deep.py", CALLEE), ("numbers_.py", CONSTANTS)):
        (tmp_path / name).write_text(text)
    return tmp_path


@pytest.mark.nightly
def test_processes_share_what_is_compiled(folder: Path) -> None:
    """One of two processes that start at once compiles, the other one waits and loads."""
    variables = os.environ | {"PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "cache")}
    processes = [
        subprocess.Popen([sys.executable, "-c", SCRIPT], env=variables, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert sorted(process.communicate()[0].split() for process in processes) == [["222", "0"], ["222", "1"]]


def answer_of(folder: Path) -> tuple[int, int]:
    """The answer of modules that are imported afresh, and how many compiled kernels came from the cache."""
    for name in ("top", "deep", "numbers_"):
        sys.modules.pop(name, None)
    importlib.invalidate_caches()
    out = io.StringIO()
    with redirect_stdout(out):
        exec(SCRIPT, {})
    value, hits = out.getvalue().split()
    return int(value), int(hits)


def test_an_edit_in_another_file_changes_the_answer(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def edit(name: str, old: str, new: str) -> None:
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new))

    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(folder / "cache"))
    # an edit within the resolution of time stamps would be hidden by Python's own cache of bytecode
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    caller = (folder / "top.py").stat()
    assert answer_of(folder) == (222, 0)
    assert answer_of(folder) == (222, 1)
    edit("deep.py", "FACTOR * x", "FACTOR * x * x")
    assert answer_of(folder) == (2 * 10101, 0)
    edit("numbers_.py", "FACTOR = 2", "FACTOR = 3")
    edit("numbers_.py", "[7, 0]", "[7, 1]")
    assert answer_of(folder) == (3 * 10101 + 3, 0)
    edit("deep.py", "first: object\n    second", "second: object\n    first")
    assert answer_of(folder) == (3 * 10101 + 3, 0)  # the fields are part of the key of a call
    edit("deep.py", "class Pair", "# a comment\n\nclass Pair")
    assert answer_of(folder) == (3 * 10101 + 3, 1)  # nothing that matters has changed
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", 1)
    assert answer_of(folder) == (3 * 10101 + 3, 0)
    assert (folder / "top.py").stat().st_mtime_ns == caller.st_mtime_ns
    stamps = {path.name.split(".")[1].rpartition("-")[2] for path in (folder / "cache").rglob("top.total-*")}
    assert len(stamps) == 1  # stale entries are gone


def test_a_cache_that_cannot_be_read_is_written_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index of an earlier version may name a record that was moved since."""
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(folder / "cache"))
    assert answer_of(folder) == (222, 0)
    (index,) = (folder / "cache").glob("*/top.total*.nbi")
    index.write_bytes(index.read_bytes().replace(b"Pair", b"Pale"))
    assert answer_of(folder) == (222, 0)
    assert answer_of(folder) == (222, 1)


@pytest.mark.nightly
def test_without_a_writable_directory(tmp_path: Path) -> None:
    code = """
import warnings
from numba.core.caching import CacheImpl
CacheImpl._locator_classes = []
from obliv.loads._kernels import coarsen
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    coarsen.compiled()
print(caught[0].message)
"""
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "NUMBA_CACHE_DIR" in answer.stdout


LIST = [1, 2]


@kernel
def _uses_a_list() -> int:
    return LIST[0]


def _plain(x: int) -> int:
    return x


@kernel
def _calls_a_function() -> int:
    return _plain(1)


@kernel
def _calls_itself(x: int) -> int:
    return 0 if x == 0 else _calls_itself(x - 1)


@kernel
def _takes_a_keyword(x: int, *, factor: int = 2) -> int:
    return factor * x


@pytest.mark.parametrize("function", [_uses_a_list, _calls_a_function, _calls_itself, _takes_a_keyword])
def test_what_a_kernel_may_not_use(function: Kernel) -> None:
    with pytest.raises(TypeError, match=function.__name__):
        function.compiled()


def test_defaults_are_part_of_the_digest() -> None:
    def scaled(x: int, factor: int) -> int:
        return x * factor

    digests = set()
    for defaults in ((2,), (3,), None):
        scaled.__defaults__ = defaults
        digests.add(kernel(scaled).digest())
    assert len(digests) == 3


def test_slices_are_constants() -> None:
    """From Python 3.14 on they are among the constants of the code; a default is one in every version."""

    def part(values: Array, which: slice = slice(None, 1)) -> Array:
        return values[which]

    digests = set()
    for default in (slice(None, 1), slice(1, None), slice(None, 1, 2)):
        part.__defaults__ = (default,)
        digests.add(kernel(part).digest())
    assert len(digests) == 3


def test_interpreted_kernels_do_not_load_the_compiler() -> None:
    code = (
        "import sys, obliv; obliv.worst_case(obliv.routing('romm', obliv.topology('torus:4x4')));"
        "print('numba' in sys.modules, 'obliv._util.machine_code' in sys.modules)"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert answer.stdout.split() == ["False", "False"]


def test_python_integers_are_never_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Kernel) -> None:
        raise AssertionError("compiled")

    monkeypatch.setattr(Kernel, "compiled", refuse)
    big = np.array([2**80], object)
    assert run(kernel(lambda values: values[0]), 1e12, big) == 2**80
    assert run(kernel(lambda record: record[1][0]), 1e12, (np.zeros(1), big)) == 2**80


def test_small_inputs_do_not_compile_what_only_a_caller_has_compiled() -> None:
    inner = kernel(_plain)
    inner.compiled()
    assert run(inner, 1.0, 7) == 7
    assert not inner.compiled().overloads  # type: ignore[attr-defined]
    assert run(inner, 1e12, 7) == run(inner, 1.0, 8) - 1 == 7
    assert len(inner.compiled().overloads) == 1  # type: ignore[attr-defined]


def test_kernels_pickle() -> None:
    assert pickle.loads(pickle.dumps(coarsen)) is coarsen


def test_without_numba_a_kernel_is_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.delitem(sys.modules, "obliv._util.machine_code", raising=False)
    kernels._warn_once.cache_clear()
    with pytest.warns(RuntimeWarning, match="pip install numba"):
        assert kernels.kernel(_plain).compiled()(7) == 7
    assert kernels.kernel(_plain).compiled()(8) == 8  # warned once


@pytest.mark.nightly
def test_answers_without_numba() -> None:
    """The same answers, and one line that says why they take long."""
    code = (
        "import sys; sys.modules['numba'] = None\n"
        "from obliv import kernels; kernels.COMPILE_ABOVE = 0\n"
        "from obliv.cli import main\n"
        "sys.exit(main(['worst', 'torus:5x5', 'romm']) or main(['average', 'mesh:3x3', 'dor', '--samples', '100']))"
    )
    answers = [
        subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
        for text in (code, code.partition("\n")[2].replace("from obliv", "import sys\nfrom obliv", 1))
    ]
    assert answers[0].stdout == answers[1].stdout
    assert answers[0].stderr.count("numba is not installed") == 1
    assert answers[1].stderr == ""
