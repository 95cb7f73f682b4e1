"""What a long headless run says meanwhile, and how it is stopped. Used by bench and fit_bench."""

import signal
import sys
import threading
import time
from typing import Any, Protocol, Self

_LOG_EVERY_S = 15.0


class Check(Protocol):
    """Asked between two pieces of work; raises what ends them."""

    def check(self) -> None: ...


class Interrupt:
    """Ctrl-C and SIGTERM wait for the next check: an exception raised inside a native library's callback is lost."""

    def __init__(self) -> None:
        self._asked = False
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {each: signal.signal(each, self._ask) for each in (signal.SIGINT, signal.SIGTERM)}
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def check(self) -> None:
        """Between two pieces of work. Raises KeyboardInterrupt."""
        if self._asked:
            raise KeyboardInterrupt

    def _ask(self, number: int, frame: object) -> None:
        self._asked = True


class Progress:
    """A line on stderr that rewrites itself on a terminal; elsewhere a line now and then, so that a log stays short."""

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._steps = self._done = 0
        self._started = self._written = time.monotonic()

    def note(self, what: str) -> None:
        now = time.monotonic()
        if self._terminal:
            sys.stderr.write(f"\r\x1b[K{what}")
        elif what and now - self._written > _LOG_EVERY_S:
            sys.stderr.write(f"{what}\n")
            self._written = now
        sys.stderr.flush()

    def start(self, steps: int) -> None:
        self._steps, self._done, self._started = steps, 0, time.monotonic()

    def step(self, what: str) -> None:
        """Before a block: its number, its name, and the time left by the pace so far."""
        left = ""
        if self._done:
            seconds = (time.monotonic() - self._started) / self._done * (self._steps - self._done)
            left = f", about {seconds:.0f} s left"
        self._done += 1
        self.note(f"[{self._done}/{self._steps}] {what}{left}")

    def close(self) -> None:
        self.note("")
