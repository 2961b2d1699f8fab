"""What the tests on real tools share."""

import pytest

from guestclock.linux.build import build_guest
from guestclock.linux.cache import GuestImage, default_cache_dir


@pytest.fixture(scope="session")
def linux_guest() -> GuestImage:
    """The Linux guest; built in the user's cache, where the next run of the tests finds it."""
    return build_guest(default_cache_dir())
