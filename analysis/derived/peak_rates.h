// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What devices can do at most, by the data sheets of their makers: dense products, no sparsity, at
// the clock that the data sheet names. Pure, any thread.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analysis/model/trace.h"
#include "proto/kinds/kernels.pb.h"
#include "proto/trace.pb.h"

namespace gpuprof::analysis {

// Returns floating-point or integer operations a second with numbers of a type. None: the device or
// the type is not in the table. `device`: as its driver calls it.
std::optional<double> PeakFlopPerSecond(std::string_view device, results::Precision precision);

// Returns what the device's memory moves, in GB/s: by its description, else by the table.
std::optional<double> PeakGbPerSecond(const proto::Device& device);

// Returns the description of a device. In a container, a file may describe others than those that
// worked: then the first one counts if all are alike. Null: it is not known.
const proto::Device* DescribedDevice(const Process& process, uint32_t id);

// Returns the data sheet that the figures of a device are from; "": it is not in the table.
std::string_view PeakSource(std::string_view device);

}  // namespace gpuprof::analysis
