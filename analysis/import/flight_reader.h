// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Makes a FlightDump of a dump of PyTorch's flight recorder: a pickle of plain data, or JSON. Keys
// of all versions from 1 on are known. One thread.

#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "analysis/base/result.h"
#include "analysis/import/byte_source.h"
#include "analysis/model/flight_dump.h"

namespace gpuprof::analysis::import {

// Returns whether the first bytes of a pickle, or of JSON, are those of a dump.
bool BeginsAsFlightPickle(std::string_view beginning);
bool BeginsAsFlightJson(std::string_view beginning);

// Reads a dump. `name` is for errors. `check` is asked now and then whether the memory, which is
// given, is too much; may be null. The rank is -1 if the dump does not tell it.
Error ReadFlightDump(ByteSource* source, const std::string& name,
                     const std::function<Error(uint64_t held_bytes)>& check, FlightDump* out);

}  // namespace gpuprof::analysis::import
