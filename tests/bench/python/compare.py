#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""Compares what profilers cost: runs each program bare and under each of them, in turn.

    compare.py                                        # all programs, all configurations, 5 rounds
    compare.py --gpuprof build/bin/gpuprof --programs mlp_tiny --rounds 9
    compare.py --configs bare,gpuprof,memray --json result.json
    compare.py --config 'py-spy=py-spy record -o {out}/profile.svg --' --programs example
    compare.py --programs '' --program 'mine=path/to/train.py --epochs 1'

A round runs every configuration once, beginning with another one each time, so that a drift of the
machine hits all of them. The quantities: `section`, what the program itself says its work took
(without start-up, and without what the profiler does before and after); `section_cpu`, its
processor time meanwhile; `wall`, the whole command; `cpu`, user and system time of the command with
all its children. Where other work shares the machine, believe the cpu ones. The ratio is taken
within a round, to that round's bare run; its median and spread over the rounds are what to quote.
Programs that print a `result` (or the example's loss lines) are also checked: it must be the same
in all.

A profiler that is not there is listed as not available; a run that fails is shown with the end of
its error output, and makes the exit status 1 when it is bare or gpuprof, or when a result differs.
"""

import argparse
import json
import os
import platform
import re
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXAMPLE = HERE.parents[2] / "examples" / "pytorch_train" / "train.py"
QUANTITIES = ("section", "section_cpu", "wall", "cpu")

# name: the command line after `python`. {data} is a directory kept for the whole comparison.
PROGRAMS = {
    "mlp_tiny": f"{HERE}/mlp_tiny.py",
    "conv_small": f"{HERE}/conv_small.py",
    "op_cost": f"{HERE}/op_cost.py --steps 500000",
    "example": f"{EXAMPLE} --data {{data}}",
}

# What a program prints about its own work (the example prints the second form).
SECTION = re.compile(r"^section_s ([0-9.]+)$|^trained \d+ images in ([0-9.]+) s", re.M)
SECTION_CPU = re.compile(r"^section_cpu_s ([0-9.]+)$", re.M)
RESULT = re.compile(r"^(?:result|epoch|weights) .*$", re.M)


# ---- the configurations -----------------------------------------------------------------------

def have_module(python, module):
    return subprocess.run([python, "-c", f"import {module}"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


def prefix_config(name, template):
    """A configuration that puts a command before the program's."""
    words = shlex.split(template)
    why = None if shutil.which(words[0]) else f"no command {words[0]}"
    return {"name": name, "missing": why,
            "command": lambda python, program, out:
                [w.replace("{out}", out) for w in words] + [python] + program}


def torch_profiler_command(python, program, out):
    """The programs of this folder know --profiler; others are run by with_torch_profiler.py."""
    if Path(program[0]).parent == HERE:
        return [python] + program + ["--profiler", "torch"]
    return [python, str(HERE / "with_torch_profiler.py")] + program


def configurations(options):
    """All known ones, in the order of the report."""
    def memray(*extra):
        return lambda python, program, out: [python, "-m", "memray", "run", "-q", "-f", *extra,
                                             "-o", f"{out}/memray.bin"] + program

    gpuprof = shlex.quote(options.gpuprof)
    no_memray = None if have_module(options.python, "memray") else "no Python module memray"
    no_torch = None if have_module(options.python, "torch.profiler") else "no torch.profiler"
    known = [
        {"name": "bare", "missing": None,
         "command": lambda python, program, out: [python] + program},
        prefix_config("gpuprof", f"{gpuprof} run -o {{out}}/bundle {options.gpuprof_options} --"),
        prefix_config("gpuprof-off", f"{gpuprof} run --capture=off -o {{out}}/bundle --"),
        {"name": "torch.profiler", "missing": no_torch, "command": torch_profiler_command},
        {"name": "memray", "missing": no_memray, "command": memray()},
        {"name": "memray-native", "missing": no_memray, "command": memray("--native")},
        prefix_config("heaptrack", "heaptrack -o {out}/heaptrack"),
    ]
    for text in options.config:
        name, _, template = text.partition("=")
        if not template:
            sys.exit(f"compare.py: --config wants NAME=COMMAND, not '{text}'")
        known.append(prefix_config(name, template))
    if options.configs is None:
        return known
    by_name = {c["name"]: c for c in known}
    wanted = ["bare"] + [n for n in options.configs.split(",") if n and n != "bare"]
    for name in wanted:
        if name not in by_name:
            sys.exit(f"compare.py: no configuration '{name}'; known: {', '.join(by_name)}")
    wanted += [text.partition("=")[0] for text in options.config]
    return [by_name[name] for name in dict.fromkeys(wanted)]


# ---- one run ----------------------------------------------------------------------------------

def bytes_under(folder):
    return sum(f.lstat().st_blocks * 512 for f in Path(folder).rglob("*") if f.is_file())


def kill_group(leader):
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run_once(command, out, timeout_s):
    """Runs a command in its own process group; returns what was measured, or an `error`."""
    with open(f"{out}/stdout", "w+b") as stdout, open(f"{out}/stderr", "w+b") as stderr:
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
                                   cwd=out, start_new_session=True)
        previous = signal.signal(signal.SIGALRM, lambda *_: kill_group(process.pid))
        signal.alarm(timeout_s)
        try:
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
            wall = time.perf_counter() - begin
        finally:
            signal.alarm(0)
            signal.signal(signal.SIGALRM, previous)
            # Whoever outlived the command would disturb the next run. The leader is not reaped
            # yet, so that its number cannot be another's by now.
            kill_group(process.pid)
            _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        for stream in (stdout, stderr):
            stream.seek(0)
        text = stdout.read().decode(errors="replace")
        errors = stderr.read().decode(errors="replace")
    if process.returncode != 0:
        what = f"exit status {process.returncode}"
        if wall >= timeout_s:
            what = f"not done after {timeout_s} s"
        return {"error": f"{what}: {errors.strip()[-400:]}".rstrip(": ")}
    run = {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime,
           "result": RESULT.findall(text), "output_bytes": 0}
    found = SECTION.search(text) or SECTION.search(errors)
    if found:
        run["section"] = float(found.group(1) or found.group(2))
    found = SECTION_CPU.search(text)
    if found:
        run["section_cpu"] = float(found.group(1))
    for name in ("stdout", "stderr"):
        os.unlink(f"{out}/{name}")
    run["output_bytes"] = bytes_under(out)
    return run


# ---- rounds and figures -----------------------------------------------------------------------

def compare_program(name, program, configs, options, scratch):
    """Returns {configuration name: list of runs, one a round} for those that are available."""
    available = [c for c in configs if not c["missing"]]
    runs = {c["name"]: [] for c in available}
    failed = set()
    for number in range(-options.warmup_rounds, options.rounds):
        turn = number % len(available)
        chosen = available if number >= 0 else available[:1]
        for config in (chosen[turn:] + chosen[:turn]) if number >= 0 else chosen:
            if config["name"] in failed:
                continue
            out = tempfile.mkdtemp(prefix="run-", dir=scratch)
            run = run_once(config["command"](options.python, program, out), out, options.timeout)
            shutil.rmtree(out, ignore_errors=True)
            if "error" in run:
                failed.add(config["name"])
            if number >= 0 or "error" in run:
                runs[config["name"]].append(run)
            note(f"{name}: round {number + 1}/{options.rounds}, {config['name']}: "
                 + (run.get("error") or ", ".join(f"{q} {run[q]:.2f} s" for q in QUANTITIES
                                                  if q in run)))
    return runs


def summary(values):
    if not values:
        return None
    quarters = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 \
        else [values[0]] * 3
    return {"median": quarters[1], "min": min(values), "max": max(values),
            "quartile1": quarters[0], "quartile3": quarters[2]}


def figures(name, program, configs, runs):
    """The rows of one program, as they go into the JSON."""
    bare = runs["bare"]
    expected = bare[0].get("result") if bare else None
    rows = []
    for config in configs:
        row = {"name": config["name"], "status": "ok"}
        rows.append(row)
        if config["missing"]:
            row.update(status="not available", reason=config["missing"])
            continue
        mine = runs[config["name"]]
        broken = next((r["error"] for r in mine if "error" in r), None)
        if broken:
            row.update(status="failed", reason=broken)
            continue
        row["count"] = len(mine)
        for quantity in QUANTITIES:
            row[f"{quantity}_s"] = summary([r[quantity] for r in mine if quantity in r])
            row[f"{quantity}_ratio"] = summary([r[quantity] / b[quantity]
                                                for r, b in zip(mine, bare)
                                                if quantity in r and quantity in b])
        row["output_bytes"] = int(statistics.median(r["output_bytes"] for r in mine))
        row["same_result"] = all(r["result"] == expected for r in mine) if expected else None
    return {"name": name, "command": program, "configurations": rows}


def machine():
    model = "unknown processor"
    try:
        text = Path("/proc/cpuinfo").read_text()
        model = re.search(r"^model name\s*:\s*(.*)$", text, re.M).group(1)
    except (OSError, AttributeError):
        pass
    return {"cpu_model": model, "cpu_count": len(os.sched_getaffinity(0)),
            "kernel": platform.release(), "load_average": round(os.getloadavg()[0], 2)}


# ---- printing ---------------------------------------------------------------------------------

def note(text):
    print(text, file=sys.stderr, flush=True)


def cell(figure, digits, unit=""):
    if figure is None:
        return "-"
    return (f"{figure['median']:.{digits}f}{unit} "
            f"[{figure['min']:.{digits}f}..{figure['max']:.{digits}f}]")


def print_program(entry, out):
    print(f"\n{entry['name']}: {' '.join(entry['command'])}", file=out)
    heads = ["configuration", "section s", "section ratio", "section_cpu ratio", "wall s",
             "wall ratio", "cpu ratio", "output MB", "result"]
    lines = [heads]
    for row in entry["configurations"]:
        if row["status"] != "ok":
            lines.append([row["name"], f"{row['status']}: {' '.join(row['reason'].split())}"])
            continue
        same = {None: "-", True: "same", False: "DIFFERENT"}[row["same_result"]]
        lines.append([row["name"], cell(row["section_s"], 2), cell(row["section_ratio"], 3, "x"),
                      cell(row["section_cpu_ratio"], 3, "x"), cell(row["wall_s"], 2),
                      cell(row["wall_ratio"], 3, "x"), cell(row["cpu_ratio"], 3, "x"),
                      f"{row['output_bytes'] / 1e6:.1f}", same])
    widths = [max(len(line[i]) for line in lines if len(line) == len(heads))
              for i in range(len(heads))]
    for line in lines:
        print("  " + "  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip(),
              file=out)


def failures(report):
    for entry in report["programs"]:
        for row in entry["configurations"]:
            ours = row["name"] == "bare" or row["name"].startswith("gpuprof")
            if row["status"] == "failed" and ours:
                yield f"{entry['name']} under {row['name']} failed"
            if row.get("same_result") is False:
                yield f"{entry['name']} under {row['name']} computed something else"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--warmup-rounds", type=int, default=1,
                        help="bare runs before the first round, not counted")
    parser.add_argument("--programs", default=",".join(PROGRAMS),
                        help="of: %(default)s (the default); '' for none of them")
    parser.add_argument("--program", action="append", default=[], metavar="NAME=SCRIPT ARGS",
                        help="one more; may be repeated")
    parser.add_argument("--configs", help="names, comma between; default: all known")
    parser.add_argument("--config", action="append", default=[], metavar="NAME=COMMAND",
                        help="one more, a command put before the program's; {out} is an empty "
                             "folder for its files; may be repeated")
    parser.add_argument("--gpuprof", default="gpuprof", help="the command (default: from PATH)")
    parser.add_argument("--gpuprof-options", default="--quiet", help="of its run verb")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--timeout", type=int, default=300,
                        help="seconds a run may take; one that takes longer has failed")
    parser.add_argument("--scratch", help="where traces are written meanwhile (default: TMPDIR)")
    parser.add_argument("--json", metavar="FILE",
                        help="write the figures there too; -: to standard output, with the table "
                             "on standard error")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds must be at least 1")
    if os.sep in options.gpuprof:
        options.gpuprof = os.path.abspath(options.gpuprof)
    return options


def chosen_programs(options, data):
    programs = {}
    for name in filter(None, options.programs.split(",")):
        if name not in PROGRAMS:
            sys.exit(f"compare.py: no program '{name}'; known: {', '.join(PROGRAMS)}")
        programs[name] = shlex.split(PROGRAMS[name].replace("{data}", shlex.quote(data)))
    for text in options.program:
        name, _, command = text.partition("=")
        words = shlex.split(command)
        if not words or not os.path.exists(words[0]):
            sys.exit(f"compare.py: --program wants NAME=SCRIPT ARGS, not '{text}'")
        programs[name] = [os.path.abspath(words[0])] + words[1:]
    return programs


def main():
    options = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what runs is ended too
    configs = configurations(options)
    report = {"machine": machine(), "rounds": options.rounds, "programs": []}
    out = sys.stderr if options.json == "-" else sys.stdout
    with tempfile.TemporaryDirectory(prefix="compare-", dir=options.scratch) as scratch:
        programs = chosen_programs(options, os.path.join(scratch, "data"))
        if not programs:
            sys.exit("compare.py: no program chosen")
        host = report["machine"]
        print(f"{host['cpu_model']}, {host['cpu_count']} cores, Linux {host['kernel']}, load "
              f"{host['load_average']}; {options.rounds} rounds; median [min..max]", file=out)
        for name, program in programs.items():
            runs = compare_program(name, program, configs, options, scratch)
            entry = figures(name, program, configs, runs)
            report["programs"].append(entry)
            print_program(entry, out)
            out.flush()
    report["machine"]["load_average_end"] = round(os.getloadavg()[0], 2)
    problems = list(failures(report))
    for problem in problems:
        note(f"compare.py: {problem}")
    if options.json == "-":
        json.dump(report, sys.stdout, indent=1)
        print()
    elif options.json:
        Path(options.json).write_text(json.dumps(report, indent=1) + "\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
