# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Runs the README's commands as a newcomer would: every `$` line of its console blocks, in order, in an empty folder.

    readme_commands.py path/to/gpuprof

Also: every verb that the README names exists, and the two make targets it begins with exist.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    gpuprof = pathlib.Path(sys.argv[1]).resolve()
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    failures = []
    for target in re.findall(r"^make (\w+)", readme, re.M):
        if not re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M):
            failures.append(f"README names `make {target}`, the Makefile has no such target")
    code = re.findall(r"`(gpuprof [^`]+)`", readme) + re.findall(r"^(?:\$ )?(gpuprof .+)$", readme, re.M)
    verbs = {match.group(1) for text in code if (match := re.match(r"gpuprof ([a-z]+)\b", text))}
    for verb in sorted(verbs):
        if subprocess.run([gpuprof, "help", verb], capture_output=True, check=False).returncode != 0:
            failures.append(f"README names `gpuprof {verb}`, which is no verb")
    commands = [line[2:] for block in re.findall(r"```console\n(.*?)```", readme, re.S)
                for line in block.splitlines() if line.startswith("$ ")]
    if len(commands) < 5:
        failures.append("README has hardly any commands to run: the check would be empty")
    path = f"{gpuprof.parent}:{ROOT / '.deps/venv/bin'}:{os.environ['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(ROOT / "examples", os.path.join(folder, "examples"))
        environment = {**os.environ, "PATH": path}
        for command in commands:
            run = subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False)
            print(f"[{run.returncode}] {command}: {len(run.stdout)} bytes")
            if run.returncode != 0 and not (command == "gpuprof doctor" and run.returncode == 1):
                failures.append(f"`{command}` ended with {run.returncode}: {run.stderr.strip()[-500:]}")
            elif not (run.stdout + run.stderr).strip():
                failures.append(f"`{command}` printed nothing")
    print("\n".join(failures) or "the README's commands run")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
