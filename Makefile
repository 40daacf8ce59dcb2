# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
#
#   make demo    install what is missing, build, profile examples/pytorch_train, print the findings
#   make test    the whole suite, sanitizers and short fuzzer runs included
#   make test-long   storms, real programs at length and long fuzzer runs
#   make bench   the benchmarks, peers beside them; prints figures, fails on nothing but an error
#   make format  format the sources      make lint   formatting, clang-tidy, shellcheck
#   make setup   install what is missing make clean  remove what was built (not .deps)

SHELL := /bin/bash
export PATH := $(CURDIR)/.deps/bin:$(PATH)

.PHONY: demo test test-long bench format lint setup clean

demo:
	@scripts/demo

# Everything is built before the first test runs, so that ctest's summary is the last thing printed.
test:
	@scripts/setup
	@scripts/build ci
	@scripts/build --quiet asan tsan
	@scripts/test ci

# What takes too long for every change. Each long test has a short form in `make test`.
test-long:
	@scripts/setup --only build,python,test,long
	@scripts/build ci
	@scripts/build --quiet asan-long
	@scripts/test long

bench:
	@scripts/setup --only build,bench
	@scripts/build --quiet bench
	@tests/bench/run build/bench

format:
	@scripts/setup --only test
	@scripts/format

lint:
	@scripts/setup
	@scripts/lint

setup:
	@scripts/setup

clean:
	rm -rf build demo-out
