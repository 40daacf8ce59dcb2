# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""What a notebook shows of a recording: where the time went, as bars, and the findings. It is HTML alone: no script runs,
and nothing is loaded. The whole page is that of `gpuprof report`."""

from __future__ import annotations

import html
from typing import Any, Iterable, List, Optional, Tuple

from ._results import Result

_COLOURS = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#97bbf5", "#9c6b4e", "#9498a0")
_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "us"))


def duration(ns: float) -> str:
    """Returns a time as people read it: three digits and a unit."""
    for size, unit in _UNITS:
        if abs(ns) >= size:
            return f"{ns / size:.3g} {unit}"
    return f"{ns:.0f} ns"


def _bar(title: str, parts: Iterable[Tuple[str, Optional[float]]]) -> str:
    """Returns one bar of parts, with a legend. Parts without time are left out."""
    shown = [(name, ns) for name, ns in parts if ns]
    whole = sum(ns for _, ns in shown)
    if not whole:
        return ""
    pieces: List[str] = []
    legend: List[str] = []
    for place, (name, ns) in enumerate(shown):
        colour = _COLOURS[place % len(_COLOURS)]
        words = html.escape(f"{name.replace('_', ' ')}: {duration(ns)}, {ns / whole:.1%}", quote=True)
        pieces.append(f"<div title='{words}' style='width:{ns / whole:.4%};background:{colour}'></div>")
        legend.append(f"<span style='white-space:nowrap'><span style='color:{colour}'>&#9632;</span> {words}</span>")
    return (f"<div style='margin:.6em 0'><div>{html.escape(title)}: {duration(whole)}</div>"
            f"<div style='display:flex;height:1.2em'>{''.join(pieces)}</div><div style='font-size:85%'>{' &nbsp; '.join(legend)}</div></div>")


def _finding(finding: Any) -> str:
    gain = finding.gain
    words = ""
    if gain is not None and gain.high_ns:
        words = f" <i>at most {duration(gain.high_ns)} of {duration(gain.base_ns)}</i>" if gain.base_ns else f" <i>at most {duration(gain.high_ns)}</i>"
    fixes = "".join(f"<li>{html.escape(fix)}</li>" for fix in finding.fix)
    return f"<li><b>{html.escape(finding.severity)}</b> {html.escape(finding.id)} {html.escape(finding.name)}{words}<ul>{fixes}</ul></li>"


def overview(path: str, result: Result) -> str:
    """Returns the result of the pass `overview` of a recording as HTML."""
    parts = [f"<b>{html.escape(path)}</b>"]
    parts.append(_bar("The run", ((phase.phase, phase.total_ns) for phase in result.phases)))
    if result.steps is not None:
        parts.append(_bar(f"{result.steps.count} steps on the host", ((each.name, each.total_ns) for each in result.steps.categories)))
    elif result.steps_advice:
        parts.append(f"<div>{html.escape(result.steps_advice)}</div>")
    if result.verdict is not None and result.verdict.families:
        parts.append(_bar("A step, by what bounds it", ((each.bound, each.total_ns) for each in result.verdict.families)))
    findings = "".join(_finding(each) for each in result.findings)
    parts.append(f"<ul>{findings}</ul>" if findings else "<div>no findings</div>")
    return "".join(parts)
