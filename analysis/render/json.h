// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Results as JSON and CSV, by reflection: names are the fields' names, in the order of the schema.
// Any thread.

#pragma once

#include <string>
#include <string_view>

namespace google::protobuf {
class Message;
}

namespace gpuprof::analysis {

// One object: 64-bit integers are numbers, enums lower-case words without their common prefix,
// fields that were not measured are null, empty tables are empty arrays. Invalid UTF-8 becomes the
// replacement character.
std::string ToJson(const google::protobuf::Message& message);

// RFC 4180, with a header line, of the repeated message field at `path` ("steps",
// "steps.categories"). Messages inside a row give columns "outer_inner"; call stacks are joined by
// semicolons, innermost first; other lists are JSON.
std::string ToCsv(const google::protobuf::Message& message, std::string_view path);

}  // namespace gpuprof::analysis
