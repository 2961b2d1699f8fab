"""Build the compiled core.

A module is compiled when a ``.pxd`` of its name lies beside it: the same ``.py`` runs
uncompiled, the ``.pxd`` only types it.  The CPU binding is the one ``.pyx``.
"""

from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

SOURCE = Path("src")


def hot_modules() -> list[Extension]:
    """Return an extension for every typed module and for the CPU binding."""
    sources = [pxd.with_suffix(".py") for pxd in sorted(SOURCE.rglob("*.pxd"))]
    sources = [path for path in sources if path.exists()] + sorted(SOURCE.rglob("*.pyx"))
    return [
        Extension(
            ".".join(path.relative_to(SOURCE).with_suffix("").parts),
            [str(path)],
            extra_compile_args=["-O3", "-g0", "-fno-plt", "-fvisibility=hidden"],
        )
        for path in sources
    ]


setup(
    ext_modules=cythonize(
        hot_modules(),
        build_dir="build",
        compiler_directives={"language_level": "3", "binding": True},
    )
)
