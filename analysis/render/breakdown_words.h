// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Categories of a device's time in words, and their table. Any thread.

#pragma once

#include <google/protobuf/repeated_field.h>

#include <string>

#include "analysis/render/table.h"
#include "proto/results/breakdown.pb.h"

namespace gpuprof::analysis {

// Returns "compute fp32", "host late", "waiting for data".
std::string TimeCategoryWords(results::TimeCategory category);
// Returns what the category means, as a sentence's end.
std::string TimeCategoryMeaning(results::TimeCategory category);

TextTable TimesTable(const google::protobuf::RepeatedPtrField<results::CategoryTime>& times);

}  // namespace gpuprof::analysis
