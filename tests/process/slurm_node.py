# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""A cluster of Slurm on this one machine: its daemons with own ports and folders, and without systemd."""

import os
import shutil
import socket
import subprocess

import pytest

from waiting import wait_until

NEEDED = ("munged", "slurmctld", "slurmd", "srun", "sinfo")


def _free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def _path():
    return os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])


class SlurmNode:
    """Starts the daemons; `environment` has what srun and sbatch need. `extra`: lines for slurm.conf."""

    def __init__(self, folder, extra=""):
        missing = [name for name in NEEDED if shutil.which(name, path=_path()) is None]
        if missing:
            pytest.skip(f"no {', '.join(missing)}: run scripts/setup --only test")
        if os.geteuid() != 0:
            pytest.skip("slurmd runs as root")
        self.folder = folder
        self.daemons = []
        for name in ("ctld", "node", "munge"):
            (folder / name).mkdir(mode=0o700)
        self.key, self.socket = folder / "munge" / "key", folder / "munge" / "socket"
        self.key.write_bytes(os.urandom(1024))
        self.key.chmod(0o400)
        self.conf = folder / "slurm.conf"
        self.conf.write_text(self._settings() + extra)
        self.environment = {"SLURM_CONF": str(self.conf)}
        self._start("munged", "--foreground", "--force", f"--socket={self.socket}", f"--key-file={self.key}",
                    f"--pid-file={folder}/munge/pid", f"--log-file={folder}/munge/log", f"--seed-file={folder}/munge/seed")
        wait_until(self.socket.exists, "munged")
        self._start("slurmctld", "-D", "-i", "-f", self.conf)
        self._start("slurmd", "-D", "-f", self.conf)
        wait_until(self._is_idle, self._words)

    def _settings(self):
        controller, node = _free_ports(2)
        host = socket.gethostname().split(".")[0]
        folder = self.folder
        return "\n".join([
            "ClusterName=test", f"SlurmctldHost={host}(127.0.0.1)", "SlurmUser=root", "SlurmdUser=root",
            "AuthType=auth/munge", "CredType=cred/munge", f"AuthInfo=socket={self.socket}",
            f"SlurmctldPort={controller}", f"SlurmdPort={node}", f"StateSaveLocation={folder}/ctld",
            f"SlurmdSpoolDir={folder}/node", f"SlurmctldPidFile={folder}/ctld.pid", f"SlurmdPidFile={folder}/node.pid",
            f"SlurmctldLogFile={folder}/ctld.log", f"SlurmdLogFile={folder}/node.log",
            "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none", "MpiDefault=none", "ReturnToService=2",
            "SchedulerType=sched/builtin", "SelectType=select/cons_tres", "SelectTypeParameters=CR_Core",
            "AccountingStorageType=accounting_storage/none", "JobAcctGatherType=jobacct_gather/none",
            "JobCompType=jobcomp/none", "SwitchType=switch/none", "SlurmdParameters=config_overrides",
            # More than the machine has: ranks wait more than they work.
            f"NodeName={host} NodeAddr=127.0.0.1 CPUs=64 Boards=1 SocketsPerBoard=1 CoresPerSocket=64 ThreadsPerCore=1",
            f"PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP", ""])

    def _start(self, *command):
        with open(self.folder / f"{command[0]}.out", "wb") as out:
            self.daemons.append(subprocess.Popen([str(x) for x in command], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                                 env={**os.environ, "PATH": _path(), **self.environment_or_none()}))

    def environment_or_none(self):
        return getattr(self, "environment", {})

    def _is_idle(self):
        for daemon in self.daemons:
            assert daemon.poll() is None, self._words()
        done = subprocess.run(["sinfo", "-h", "-o", "%T"], capture_output=True, text=True,
                              env={**os.environ, "PATH": _path(), **self.environment})
        return "idle" in done.stdout

    def _words(self):
        return "Slurm: " + "\n".join(path.read_text(errors="replace")[-2000:] for path in self.folder.glob("*.out"))

    def stop(self):
        # A daemon that cannot ask munged any more waits for ever, so munged ends last.
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(30)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
