"""Choose the build under test: ``--build=compiled`` (default) or ``--build=plain``.

A typed module (one with a ``.pxd``) exists twice, as ``.py`` and as an extension.  ``plain``
makes the import system take the ``.py``; ``compiled`` refuses to run when one is missing, so
that no test passes on the wrong build.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings

# How long an example takes says nothing: the machine may be busy with something else.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

SOURCE = Path(__file__).parent.parent / "src"
HOT = {
    ".".join(pxd.relative_to(SOURCE).with_suffix("").parts): pxd.with_suffix(".py")
    for pxd in SOURCE.rglob("*.pxd")
    if pxd.with_suffix(".py").exists()
}


class PlainFinder(importlib.abc.MetaPathFinder):
    """Finds typed modules as plain Python, before their compiled twins are found."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in HOT:
            return None
        return importlib.util.spec_from_file_location(fullname, HOT[fullname])


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--build", choices=["compiled", "plain"], default="compiled")
    parser.addoption(
        "--chip-steps", type=int, default=4000, help="random steps of the 6522 against its oracle"
    )
    parser.addoption(
        "--via-steps", type=int, default=60_000, help="random steps of QEMU's VIA against a real QEMU"
    )
    parser.addoption(
        "--qtest-qemu", default="", help="a QEMU with the accelerator qtest, in place of the one played"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "compiled_only: would take too long or mean nothing uncompiled")
    if config.getoption("--build") == "plain":
        sys.meta_path.insert(0, PlainFinder())
        return
    for name in HOT:
        spec = importlib.util.find_spec(name)
        if spec is None or not str(spec.origin).endswith(".so"):
            raise pytest.UsageError(f"{name} is not compiled: run `make .venv/built`")


def pytest_report_header(config: pytest.Config) -> str:
    return f"build under test: {config.getoption('--build')}"
