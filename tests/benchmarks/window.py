"""The window against its targets: overlay, pacing, first frame, switch. Needs a display. ``--toy``: just that it runs.

Every figure is a median or a percentile of its own run; absolute times are of this machine and say so.
"""

import argparse
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from demo.app import App
from demo.budget import percentile_ms
from demo.settings import Settings
from demo.wanted import Action
from demo.window import DemoWindow
from renderers.device import INTERFACES, Interface


def settings(interface: Interface, objects: int) -> Settings:
    return Settings(interfaces=(interface,), interfaces_named=True, objects=objects, size_px=(1280, 720))


def opened(interface: Interface, objects: int) -> App:
    app = App(settings(interface, objects), DemoWindow((1280, 720), "benchmark"), {})
    app.open()
    return app


def run(app: App, frames: int) -> None:
    for _ in range(frames):
        app.step()


def overlay_ms(interface: Interface, frames: int) -> float:
    """Median thread time that the panel costs a frame, build and draw together, ms."""
    app = opened(interface, 100)
    run(app, frames)
    costs = [
        sum(span.thread_ns or 0 for span in record.spans if span.kind == "overlay") / 1e6
        for record, _ in app.history.records
    ]
    app.close()
    return percentile_ms(costs, 50.0)


def pacing_ms(interface: Interface, frames: int) -> tuple[float, float]:
    """p5 and p95 of the frame time of an almost empty scene with vsync wanted, without the panel, ms."""
    app = opened(interface, 1)
    app.do(Action.OVERLAY)
    run(app, frames)
    times = [frame_ms for _, frame_ms in app.history.records]
    app.close()
    return percentile_ms(times, 5.0), percentile_ms(times, 95.0)


def first_frame_s(interface: Interface, repeats: int) -> float:
    """From starting the process to its end after one presented frame, median of ``repeats``, s."""

    def once() -> float:
        begin = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "demo", "--interface", interface, "--frames", "1"],
            cwd=Path(__file__).parents[2],
            check=True,
        )
        return time.perf_counter() - begin

    return percentile_ms([once() for _ in range(repeats)], 50.0)


def switch_ms(rounds: int) -> float:
    """Median time from asking for the other interface to the end of its first frame, both warm, ms."""
    app = opened("opengl", 1000)
    times = []
    for round_ in range(rounds + 4):
        begin = time.perf_counter()
        app.do((Action.WEBGPU, Action.OPENGL)[round_ % 2])
        app.step()
        times.append((time.perf_counter() - begin) * 1e3)
        run(app, 5)
    app.close()
    return percentile_ms(times[4:], 50.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--toy", action="store_true", help="a few frames, to see that it runs")
    toy = parser.parse_args().toy
    frames = 40 if toy else 400
    for each in INTERFACES:
        print(f"{each}: overlay, thread time p50: {overlay_ms(each, frames):.2f} ms", flush=True)
        p5, p95 = pacing_ms(each, frames)
        print(f"{each}: pacing p5 to p95: {p5:.2f} to {p95:.2f} ms", flush=True)
        print(f"{each}: first frame, whole process: {first_frame_s(each, 1 if toy else 5):.2f} s", flush=True)
    print(f"switch, warm, p50: {switch_ms(2 if toy else 40):.1f} ms")


if __name__ == "__main__":
    main()
