// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How a column of a trace (proto/schema.h) is called in SQL, its type there, and its unit. Pure,
// any thread.

#pragma once

#include <string>

#include "analysis/query/query_table.h"
#include "proto/schema.h"

namespace gpuprof::analysis {

ValueType SqlTypeOf(proto::ColumnType type);

// Returns "ns", "bytes", or an empty text.
const char* SqlUnitOf(proto::ColumnType type);

// Returns the name of a column: with its unit, and "_id" if it is a number of a text.
std::string SqlNameOf(const char* name, proto::ColumnType type);

}  // namespace gpuprof::analysis
