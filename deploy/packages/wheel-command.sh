#!/bin/sh
# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0
#
# `gpuprof` of the wheel: another name of gpuprof-tools, which lies next to this file.
command="${0%/*}/gpuprof-tools"
[ -x "$command" ] || command=$(dirname -- "$(readlink -f -- "$0")")/gpuprof-tools
exec "$command" "$@"
