// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Results as JSON and CSV, by reflection: names are the fields' names, in the order of the schema.
// Written row by row: no document is ever in memory. Any thread.

#pragma once

#include <string>
#include <string_view>

#include "analysis/render/output.h"

namespace google::protobuf {
class Message;
}

namespace gpuprof::analysis {

// Writes one object. 64-bit integers are numbers. Enums are lower-case words without their common
// prefix. Fields that were not measured are null, and empty tables are empty arrays. Invalid UTF-8
// becomes the replacement character.
void WriteJson(const google::protobuf::Message& message, Output* out);

// Writes RFC 4180, with a header line, of the repeated message field at `path` ("steps",
// "steps.categories"). Messages inside a row give columns "outer_inner". The column of a call stack
// is "frames": names joined by semicolons, innermost first, in the pass `stacks` outermost first.
// Other lists are JSON. Texts are harmless to spreadsheets (csv_text.h).
void WriteCsv(const google::protobuf::Message& message, std::string_view path, Output* out);

// The same as one string.
std::string ToJson(const google::protobuf::Message& message);
std::string ToCsv(const google::protobuf::Message& message, std::string_view path);

}  // namespace gpuprof::analysis
