"""What was measured against what was wanted. Used by draws and compute."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from demo.budget import percentile_ms
from demo.costs import Spread


@dataclass(frozen=True, slots=True)
class Target:
    """``dear`` over ``cheap``, or without it ``dear`` in ``unit``: at least ``least``, at most ``most``.

    With neither, it is only shown.
    """

    dear: str
    cheap: str | None = None
    least: float = 0.0
    most: float = float("inf")
    unit: str = "ms"
    digits: int = 1

    @property
    def names(self) -> tuple[str, ...]:
        return (self.dear,) if self.cheap is None else (self.dear, self.cheap)

    @property
    def wanted(self) -> str | None:
        if self.least:
            return f"at least {self.least:g}"
        return None if self.most == float("inf") else f"at most {self.most:g}"

    def blocks(self, measured: Mapping[str, Sequence[float]]) -> list[float]:
        """The ratio is formed block by block."""
        ours = measured[self.dear]
        if self.cheap is None:
            return list(ours)
        return [dear / cheap for dear, cheap in zip(ours, measured[self.cheap], strict=True)]


def print_target(target: Target, measured: Mapping[str, Sequence[float]], judged: bool) -> None:
    """``measured``: the median of each block, by name."""
    name = " over ".join(target.names)
    missing = [each for each in target.names if each not in measured]
    if missing:
        print(f"{name}: n/a (no {', no '.join(missing)})")
        return
    figure = spread(target.blocks(measured))
    shown = text(figure, target.digits) + ("" if target.cheap else f" {target.unit}")
    if target.wanted is None:
        print(f"{name}: {shown}")
        return
    verdict = "met" if target.least <= figure.median <= target.most else "MISSED"
    print(f"{name}: {shown}; target {target.wanted}: {verdict if judged else 'not at toy size'}", flush=True)


def spread(figures: Sequence[float]) -> Spread:
    return Spread(percentile_ms(figures, 50.0), min(figures), max(figures), len(figures))


def text(figures: Spread, digits: int) -> str:
    return f"{figures.median:.{digits}f} ({figures.low:.{digits}f} to {figures.high:.{digits}f})"
