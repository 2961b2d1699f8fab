"""What follows for a guest's clock from a TSC frequency, and from a migration."""

from dataclasses import dataclass
from enum import Enum

from guestclock.errors import BadInputError
from guestclock.pvclock.exact import NSEC_PER_SEC, clocksource_rate, page_rate
from guestclock.pvclock.scale import time_scale
from guestclock.pvclock.writers import ClockData, Host, KvmClock

PPB = 1_000_000_000
DAY_NS = 86_400 * NSEC_PER_SEC
TSC_HZ_MIN, TSC_HZ_MAX = 1_000_000, 100_000_000_000


@dataclass(frozen=True)
class RatePrediction:
    """How a guest's clock runs on a TSC of a frequency, and what the next master-clock update does to it.

    Errors are in ppb of true time.  Between updates the guest's clock runs by the page's multiplier; the
    host's raw clock runs by the host's own, coarser one.  An update yanks the guest's clock to the host's.
    """

    tsc_hz: int
    page_mul: int
    page_shift: int
    page_error_ppb: float
    host_mult: int
    host_shift: int
    host_error_ppb: float
    guest_minus_host_ppb: float
    jump_ns_per_day: float
    """The guest clock's step at an update, for each day since the one before; negative is backwards."""

    @property
    def jumps_backwards(self) -> bool:
        """Does the guest's clock go back at an update?"""
        return self.jump_ns_per_day < 0


def predict_rate(tsc_hz: int) -> RatePrediction:
    """Return the prediction for a TSC frequency; KVM and the kernel both round it down to kHz.

    >>> prediction = predict_rate(2_300_000_000)
    >>> f"{prediction.guest_minus_host_ppb:.3f} ppb, {prediction.jump_ns_per_day / 1e6:+.2f} ms a day"
    '-35.879 ppb, +3.10 ms a day'
    """
    host = Host(_checked(tsc_hz))
    page_mul, page_shift = time_scale(NSEC_PER_SEC, host.tsc_khz * 1000)
    host_mult, host_shift = host.mult_shift
    page = page_rate(page_mul, page_shift, tsc_hz)
    raw = clocksource_rate(host_mult, host_shift, tsc_hz)
    return RatePrediction(
        *(tsc_hz, page_mul, page_shift, float((page - 1) * PPB)),
        *(host_mult, host_shift, float((raw - 1) * PPB)),
        guest_minus_host_ppb=float((page / raw - 1) * PPB),
        jump_ns_per_day=float((raw - page) * DAY_NS),
    )


class Method(Enum):
    """How a hypervisor's user space carries the clock over."""

    NOTHING = "nothing"  # the new machine's clock starts at 0
    SET_CLOCK = "set-clock"  # KVM_SET_CLOCK with the saved clock only
    REALTIME = "set-clock-realtime"  # and with KVM_CLOCK_REALTIME


class TscMethod(Enum):
    """How it carries the TSC over."""

    VALUE = "value"  # MSR_IA32_TSC is written with the saved value
    OFFSET = "offset"  # KVM_VCPU_TSC_OFFSET, corrected by the wall time that has passed


@dataclass(frozen=True)
class Migration:
    """A migration: the guest is stopped for ``downtime_ns``; GET_CLOCK at its start, SET_CLOCK at its end.

    ``clock_offset_ns`` is how much the destination's wall clock is ahead of the source's.  A downtime
    during which the guest is not stopped at all is the plain pair of calls on one host.
    """

    source_hz: int
    destination_hz: int
    downtime_ns: int
    clock_offset_ns: int = 0
    method: Method = Method.REALTIME
    tsc_method: TscMethod = TscMethod.VALUE
    uptime_ns: int = 3600 * NSEC_PER_SEC


@dataclass(frozen=True)
class MigrationPrediction:
    """What the guest sees when it runs again.

    ``*_step_ns`` are steps against true time: 0 is a clock that went on as if nothing had happened,
    negative is time lost.  ``kvmclock_ns_before`` and ``_after`` are the last and first values it reads.
    """

    kvmclock_ns_before: int
    kvmclock_ns_after: int
    kvmclock_step_ns: int
    tsc_step_ns: int
    tsc_rate_error_ppm: float

    @property
    def goes_backwards(self) -> bool:
        """Does the guest read an earlier time than before?"""
        return self.kvmclock_ns_after < self.kvmclock_ns_before


def predict_migration(migration: Migration) -> MigrationPrediction:
    """Run a migration on the model of KVM and return what the guest's clocks do.

    The guest's tsc clocksource keeps the multiplier of the source's frequency: without TSC scaling on the
    destination it runs wrong by the ratio of the two.

    >>> stop_and_go = Migration(2_300_000_000, 2_300_000_000, 300_000_000, method=Method.SET_CLOCK)
    >>> predict_migration(stop_and_go).kvmclock_step_ns
    -300000000
    """
    if migration.downtime_ns < 0 or migration.uptime_ns < 0:
        raise BadInputError(f"downtime {migration.downtime_ns} ns, uptime {migration.uptime_ns} ns: below 0")
    stopped, resumed = migration.uptime_ns, migration.uptime_ns + migration.downtime_ns
    source = KvmClock.created(Host(_checked(migration.source_hz)), 0)
    source.update_master_clock(stopped)  # else the rate error of the whole uptime would be in the figures
    before = source.guest_ns(stopped)
    saved = source.get_clock(stopped)
    tsc_before = source.guest_tsc(stopped)

    arrived = Host(_checked(migration.destination_hz), realtime_offset_ns=migration.clock_offset_ns)
    destination = KvmClock.created(arrived, resumed, tsc_offset=tsc_before - arrived.tsc(resumed))
    if migration.method is Method.SET_CLOCK:
        destination.set_clock(ClockData(saved.clock_ns), resumed)
    elif migration.method is Method.REALTIME:
        destination.set_clock(saved, resumed)
    after = destination.guest_ns(resumed)
    return MigrationPrediction(
        kvmclock_ns_before=before,
        kvmclock_ns_after=after,
        kvmclock_step_ns=after - before - migration.downtime_ns,
        tsc_step_ns=_tsc_step_ns(migration),
        tsc_rate_error_ppm=(migration.destination_hz / migration.source_hz - 1) * 1e6,
    )


def _tsc_step_ns(migration: Migration) -> int:
    if migration.tsc_method is TscMethod.VALUE:
        return -migration.downtime_ns
    passed_ns = max(0, migration.downtime_ns + migration.clock_offset_ns)
    return passed_ns - migration.downtime_ns


def _checked(tsc_hz: int) -> int:
    if not TSC_HZ_MIN <= tsc_hz <= TSC_HZ_MAX:
        raise BadInputError(
            f"TSC frequency {tsc_hz} Hz: {TSC_HZ_MIN} to {TSC_HZ_MAX} Hz can be (2.3 GHz is 2300000000)"
        )
    return tsc_hz
