# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""Main pages look as they did: small pictures are compared with those in looks/.

If a page was changed on purpose, look at the new pictures, and commit them:

    python3 tests/viewer/test_looks.py          needs a build, Node.js and Chromium, as the tests do
"""

import pathlib
import sys
import tempfile

import pytest

from conftest import ROOT, assert_quiet, missing, probe, stats, write_report

BUNDLE = ROOT / "tests" / "golden" / "traces" / "h200" / "pytorch" / "language_model"
LOOKS = pathlib.Path(__file__).parent / "looks"
PAGES = ["overview", "timeline", "kernels", "steps", "memory"]
# The part of the pixels that may differ, at an eighth of the size. Another font changes fewer; a lost column more.
MOST_DIFFERENT = 0.04

needs_page = pytest.mark.skipif(bool(missing()), reason=missing() or "nothing is missing")


def take(folder):
    """Makes the pictures in a folder. Returns the share of each that differs."""
    step = stats("steps", BUNDLE, cwd=folder)["steps"][3]
    window = f"{step['start_ns']},{step['start_ns'] + step['duration_ns']}"
    links = {page: f"timeline?v={window}" if page == "timeline" else page for page in PAGES}
    steps = []
    for theme in ("light", "dark"):
        steps.append(f"theme:{theme}")
        steps += [f"look:{page}_{theme},{LOOKS},{link}" for page, link in links.items()]
    seen = probe(write_report(BUNDLE, folder), folder, *steps)
    assert_quiet(seen)
    return seen["look"]


@needs_page
def test_main_pages_look_as_they_did(tmp_path):
    shares = take(tmp_path)
    assert len(shares) == 2 * len(PAGES)
    print({name: round(share, 4) for name, share in shares.items()})
    changed = {name: share for name, share in shares.items() if share > MOST_DIFFERENT}
    assert changed == {}, f"the new pictures are in {tmp_path}; python3 {__file__} keeps them"


def main():
    LOOKS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        take(pathlib.Path(place))
        for picture in pathlib.Path(place).glob("*.png"):
            (LOOKS / picture.name).write_bytes(picture.read_bytes())
            print(picture.name, picture.stat().st_size, "bytes")


if __name__ == "__main__":
    sys.exit(main())
