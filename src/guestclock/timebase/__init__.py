"""Guest time: exact cycle and nanosecond conversion, host clocks, and what makes time advance."""
