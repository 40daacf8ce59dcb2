# SPDX-FileCopyrightText: gpuprof contributors
# SPDX-License-Identifier: Apache-2.0

"""The doubles of the GPU stack, told by their own small tool (selftest/) and compared with their own truth."""
