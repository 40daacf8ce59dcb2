# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""The process tests' fixtures, for programs of real frameworks."""

import importlib.util
import pathlib
import sys

import pytest

_PATH = pathlib.Path(__file__).resolve().parents[1] / "process" / "conftest.py"
_SPEC = importlib.util.spec_from_file_location("process_support", _PATH)
process_support = importlib.util.module_from_spec(_SPEC)
sys.modules["process_support"] = process_support
_SPEC.loader.exec_module(process_support)

record, same, session = process_support.record, process_support.same, process_support.session
