"""Run the benchmarks named on the command line, or all of them."""

import argparse
import importlib

# Name -> what it measures; each is a module here with a function `main()` that prints its results
# and returns whether its bar holds.
BENCHMARKS = {
    "chip": "three register reads per 1,000 cycles, the compiled 6522 against plain C",
    "conform": "vectors a minute on our 6522, reads a second on a program in C",
    "guest": "Linux on our Quadra against qemu-system-m68k: boot, gettimeofday, memory",
}


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        epilog="benchmarks: " + "; ".join(f"{name}: {what}" for name, what in BENCHMARKS.items()),
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="which to run (default: all)")
    names = parser.parse_args().names or list(BENCHMARKS)
    if unknown := set(names) - set(BENCHMARKS):
        parser.error(f"no benchmark {', '.join(sorted(unknown))}: there are {', '.join(BENCHMARKS)}")
    held = [importlib.import_module(f"benchmarks.{name}").main() for name in names]
    return 0 if all(held) else 1


if __name__ == "__main__":
    raise SystemExit(main())
