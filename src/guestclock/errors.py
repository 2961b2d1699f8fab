"""What can go wrong, and the exit status that says so.

Every command ends with 0 (good), 1 (the clock or target is at fault), 2 (wrong usage or
bad input) or 4 (cannot be run here).  An error's message is one line for a person: what,
where, and the way out.
"""


class GuestclockError(Exception):
    """Base of all errors that end a command with one clear line instead of a traceback."""

    exit_status = 1


class BadInputError(GuestclockError):
    """The user gave something that cannot be used: a file, an option, a value."""

    exit_status = 2


class UnavailableError(GuestclockError):
    """This machine lacks what the command needs; the message says what to install or permit."""

    exit_status = 4
