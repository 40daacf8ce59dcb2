# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""NOTICE names all that the build contains of others, and nothing else.

usage: notices.py BUILD
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "deploy" / "packages")]
sys.path.remove(str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
import notices  # noqa: E402  (deploy/packages/notices.py)


def check_the_check(archives, owners):
    """Raises unless each kind of fault is found."""
    assert not notices.faults_of(archives, owners, []), "the list as it is"
    for words, faults in {
            "libnew.a is linked": notices.faults_of(archives | {"libnew.a"}, owners, []),
            "/usr/include/new.h of libnew-dev": notices.faults_of(archives, {**owners, "libnew-dev": "/usr/include/new.h"}, []),
            "libzstd.a has an entry": notices.faults_of(archives - {"libzstd.a"}, owners, []),
            "libcli11-dev has an entry": notices.faults_of(archives, {name: path for name, path in owners.items() if name != "libcli11-dev"}, []),
            "the licence of zlib": notices.faults_of(archives, owners, ["zlib"])}.items():
        assert len(faults) == 1 and words in faults[0], (words, faults)


def check_page(build, shown):
    """Raises unless NOTICE has the packages of the page, and the page itself has their licences."""
    page = build / "viewer" / "index.html"
    if not page.is_file() or page.stat().st_size == 0:
        return
    found = notices.page_notices(build / "viewer" / "notices.json")
    assert {"preact", "@preact/signals", "uplot"} <= {name for name, _, _ in found}, found
    comment = page.read_text(encoding="utf-8").partition("This page contains the work of others")[2].partition("-->")[0]
    for name, licence, text in found:
        assert f"- {name}: {licence}\n" in shown and text in shown, name
        assert f"{name} ({licence})\n\n{text}" in comment, name


def main():
    build = pathlib.Path(sys.argv[1])
    try:
        notices.check(build)
    except notices.NoticeError as error:
        print(error)
        return 1
    check_the_check(notices.linked_archives(build), notices.owners_of(notices.included_headers(build)))
    check_page(build, (build / "NOTICE").read_text(encoding="utf-8"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
