# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""The system calls that Docker's default profile refuses to a container without more rights, as a filter for bwrap.

Docker's profile is a list of what is allowed. For the calls that x86-64 has, this is the rest."""

import platform
import struct

IS_HERE = platform.machine() == "x86_64"
EPERM, ENOSYS = 1, 38
X86_64 = 0xC000003E
ALLOW, ERROR = 0x7FFF0000, 0x00050000
LOAD, EQUAL, AT_LEAST, AND, RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16

UNSHARE, CLOSE_RANGE, CLONE, CLONE3, PERF_EVENT_OPEN = 272, 436, 56, 435, 298
# The flags of clone that make namespaces.
NAMESPACES = 0x7E020000
# No release of the profile knows calls from here on.
UNKNOWN = 463
REFUSED = {
    "acct": 163, "add_key": 248, "request_key": 249, "keyctl": 250, "bpf": 321, "clock_settime": 227, "settimeofday": 164,
    "init_module": 175, "delete_module": 176, "finit_module": 313, "mbind": 237, "set_mempolicy": 238, "get_mempolicy": 239,
    "migrate_pages": 256, "move_pages": 279, "set_mempolicy_home_node": 450, "iopl": 172, "ioperm": 173, "kcmp": 312,
    "kexec_load": 246, "kexec_file_load": 320, "lookup_dcookie": 212, "mount": 165, "umount2": 166, "open_tree": 428,
    "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "mount_setattr": 442,
    "open_by_handle_at": 304, "perf_event_open": PERF_EVENT_OPEN, "pivot_root": 155, "pidfd_getfd": 438, "process_madvise": 440,
    "quotactl": 179, "reboot": 169, "setns": 308, "swapon": 167, "swapoff": 168, "sysfs": 139, "_sysctl": 156, "syslog": 103,
    "unshare": UNSHARE, "uselib": 134, "userfaultfd": 323, "ustat": 136, "vhangup": 153, "sethostname": 170,
    "setdomainname": 171, "nfsservctl": 180, "fanotify_init": 300,
}


def _step(code, value, if_true=0, if_false=0):
    return struct.pack("<HBBI", code, if_true, if_false, value)


def _refuse(number, error):
    return _step(EQUAL, number, 0, 1) + _step(RETURN, ERROR | error)


def profile(also=(), without=()):
    """Returns the filter's program. `also` are numbers that are refused too, `without` numbers that are not refused."""
    code = _step(LOAD, ARCHITECTURE) + _step(EQUAL, X86_64, 1, 0) + _step(RETURN, ERROR | EPERM) + _step(LOAD, NUMBER)
    code += _step(AT_LEAST, UNKNOWN, 0, 1) + _step(RETURN, ERROR | EPERM)
    for number in sorted((set(REFUSED.values()) | set(also)) - set(without)):
        code += _refuse(number, EPERM)
    code += _refuse(CLONE3, ENOSYS)
    code += _step(EQUAL, CLONE, 0, 4) + _step(LOAD, FIRST_ARGUMENT) + _step(AND, NAMESPACES) + _step(EQUAL, 0, 1, 0)
    code += _step(RETURN, ERROR | EPERM) + _step(RETURN, ALLOW)
    return code
