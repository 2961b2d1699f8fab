"""Options of the chips' tests."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--chip-steps", type=int, default=1600, help="steps of the long random programs for the 6522"
    )
