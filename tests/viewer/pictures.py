#!/usr/bin/env python3
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
"""Makes the pictures of docs/pictures: pages of reports, of recordings that the tests have.

    python3 tests/viewer/pictures.py [FOLDER]      needs a build, Node.js and Chromium, as the tests do
"""

import pathlib
import sys
import tempfile

from conftest import ROOT, assert_quiet, probe, stats, write_report

GOLDEN = ROOT / "tests" / "golden"
BUNDLE = GOLDEN / "traces" / "h200" / "pytorch" / "language_model"
# Parts of pages: the recording, the page and the part of each picture.
PARTS = {
    "roofline": (GOLDEN / "xspace" / "tpu_inference.xplane.pb.gz", "roofline", "section.columns > div"),
    "memory_profile": (BUNDLE, "memory_profile", "section:has(.chart)"),
    "input_pipeline": (GOLDEN / "traces" / "h200" / "pytorch" / "images", "input_pipeline", "section:has(.legend)"),
    "tf_data": (GOLDEN / "xspace" / "cpu" / "tensorflow_steps.xplane.pb.gz", "tf_data", "section:has(.chain)"),
}


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "docs" / "pictures").resolve()
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        step = stats("steps", BUNDLE, cwd=place)["steps"][3]
        window = f"{step['start_ns']},{step['start_ns'] + step['duration_ns']}"
        page = write_report(BUNDLE, pathlib.Path(place))
        timeline = f"timeline?v={window}"
        # The ink of a canvas stays when all values are there.
        assert_quiet(probe(page, folder, "shot:overview", f"ink:{timeline}", f"shot:{timeline}", "shot:kernels"))
    for picture in folder.glob("timeline_*.png"):
        picture.replace(folder / "timeline.png")
    for name, (source, link, part) in PARTS.items():
        with tempfile.TemporaryDirectory() as place:
            assert_quiet(probe(write_report(source, pathlib.Path(place)), folder, f"text:{link}", f"cut:{name}={part}"))


if __name__ == "__main__":
    main()
