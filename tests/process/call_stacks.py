# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""Reads the table of call stacks of a result in JSON."""


def frames_of(result, number):
    """The frames of stack `number`, innermost first."""
    table = result["call_stacks"]
    frames = []
    while number != 0:
        frames.append(table["frames"][table["frame"][number]])
        number = table["caller"][number]
    return frames
