// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See kineto_fields.h. Names of categories and arguments: pytorch/kineto, ActivityType.h and
// output_json.cpp.

#include "analysis/import/kineto_fields.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

namespace gpuprof::analysis::import {
namespace {

struct CategoryName {
  std::string_view name;
  Category category;
};
constexpr CategoryName kCategories[] = {
    {"cpu_op", Category::kOp},
    {"python_function", Category::kPython},
    {"cuda_runtime", Category::kRuntime},
    {"kernel", Category::kKernel},
    {"cuda_driver", Category::kDriver},
    {"cpu_instant_event", Category::kInstant},
    {"ac2g", Category::kFlow},
    {"fwdbwd", Category::kFlow},
    {"gpu_memcpy", Category::kCopy},
    {"gpu_memset", Category::kSet},
    {"user_annotation", Category::kAnnotation},
    {"gpu_user_annotation", Category::kGpuAnnotation},
    {"cuda_sync", Category::kSync},
    {"overhead", Category::kOverhead},
    {"Trace", Category::kSpan},
    // torch 1.8
    {"Operator", Category::kOp},
    {"Runtime", Category::kRuntime},
    {"Kernel", Category::kKernel},
    {"Memcpy", Category::kCopy},
    {"Memset", Category::kSet},
    {"async", Category::kFlow},
    {"cpu_to_cuda", Category::kFlow},
    // other devices
    {"hip_runtime", Category::kRuntime},
    {"hip_driver", Category::kDriver},
    {"xpu_runtime", Category::kRuntime},
    {"xpu_driver", Category::kDriver},
    {"mtia_runtime", Category::kRuntime},
    {"privateuse1_runtime", Category::kRuntime},
    {"privateuse1_driver", Category::kDriver},
    {"concurrent_kernel", Category::kKernel},
    {"hip_sync", Category::kSync},
};

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

uint8_t MemoryKindOf(std::string_view name) {
  name = Trimmed(name);
  if (name == "Pageable") return 1;
  if (name == "Pinned") return 2;
  if (name == "Device") return 3;
  if (name == "Array") return 4;
  if (name == "Managed") return 5;
  if (name == "Device Static") return 6;
  if (name == "Managed Static") return 7;
  return 0;
}

// In the order of CUpti_ActivityMemcpyKind, from 1.
constexpr std::string_view kShortCopies[] = {"HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                             "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
struct LongCopy {
  std::string_view text;
  uint8_t kind;
};
constexpr LongCopy kLongCopies[] = {
    {"hosttodevice", 1}, {"devicetohost", 2}, {"devicetodevice", 8},
    {"hosttohost", 9},   {"peertopeer", 10},
};

std::string LowerLetters(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c >= 'A' && c <= 'Z') out += static_cast<char>(c - 'A' + 'a');
    if (c >= 'a' && c <= 'z') out += c;
  }
  return out;
}

uint8_t CopyKindOf(std::string_view name) {
  for (size_t i = 0; i < std::size(kShortCopies); ++i) {
    if (name.find(kShortCopies[i]) != std::string_view::npos) return static_cast<uint8_t>(i + 1);
  }
  const std::string letters = LowerLetters(name);
  for (const LongCopy& copy : kLongCopies) {
    if (letters.find(copy.text) != std::string::npos) return copy.kind;
  }
  return 0;
}

// "Memcpy HtoD (Pageable -> Device)", "Memset (Device)".
void ReadMemoryKinds(std::string_view name, CopyName* out) {
  const size_t open = name.find('(');
  const size_t close = name.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return;
  const std::string_view inside = name.substr(open + 1, close - open - 1);
  const size_t arrow = inside.find("->");
  if (arrow == std::string_view::npos) {
    out->destination = MemoryKindOf(inside);
  } else {
    out->source = MemoryKindOf(inside.substr(0, arrow));
    out->destination = MemoryKindOf(inside.substr(arrow + 2));
  }
}

void ReadDimensions(const JsonValue& value, std::array<uint32_t, 3>* out) {
  const std::vector<JsonValue> elements = Elements(value, out->size());
  for (size_t i = 0; i < elements.size() && i < out->size(); ++i) {
    const std::optional<int64_t> number = WholeNumber(elements[i]);
    if (number && *number >= 0 && *number <= std::numeric_limits<uint32_t>::max())
      (*out)[i] = static_cast<uint32_t>(*number);
  }
}

// Appends JSON without blanks between its tokens. Text that Python printed has single quotes.
void AppendCompact(std::string_view json, std::string* out) {
  char quote = 0;
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (quote == 0 && (c == ' ' || c == '\n' || c == '\t' || c == '\r')) continue;
    if (quote == 0 && (c == '"' || c == '\'')) {
      quote = c;
      *out += '"';
    } else if (quote != 0 && c == quote) {
      quote = 0;
      *out += '"';
    } else if (quote != 0 && c == '\\' && i + 1 < json.size()) {
      *out += c;
      *out += json[++i];
    } else {
      *out += quote == '\'' && c == '"' ? '\'' : c;
    }
  }
  if (quote != 0) *out += '"';
}

void AppendString(std::string_view text, std::string* out) {
  constexpr char kDigits[] = "0123456789abcdef";
  *out += '"';
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') *out += '\\';
    if (code < 0x20) {
      *out += "\\u00";
      *out += kDigits[code >> 4];
      *out += kDigits[code & 15];
    } else {
      *out += c;
    }
  }
  *out += '"';
}

bool IsArrayText(std::string_view text) {
  text = Trimmed(text);
  return text.size() >= 2 && text.front() == '[' && text.back() == ']' &&
         std::count(text.begin(), text.end(), '[') == std::count(text.begin(), text.end(), ']');
}

void AppendDetail(std::string_view key, const JsonValue& value, std::string* out) {
  *out += out->empty() ? '{' : ',';
  AppendString(key, out);
  *out += ':';
  if (value.kind == JsonValue::Kind::kArray || value.kind == JsonValue::Kind::kObject ||
      (value.kind == JsonValue::Kind::kString && IsArrayText(value.text))) {
    AppendCompact(value.text, out);
  } else if (value.kind == JsonValue::Kind::kString) {
    AppendString(value.text, out);
  } else {
    *out += value.kind == JsonValue::Kind::kNull ? std::string_view("null") : value.text;
  }
}

// Keys that the model has columns for, or that are numbers of one event alone.
bool IsOwnKey(std::string_view key) {
  constexpr std::string_view kKeys[] = {
      "External id",        "external id", "Ev Idx",     "Sequence number", "Fwd thread id",
      "Record function id", "Device",      "Trace name", "Trace iteration", "external ts"};
  return std::find(std::begin(kKeys), std::end(kKeys), key) != std::end(kKeys);
}

// What Kineto repeats at kernels of the operation "record_param_comms": pytorch,
// ParamCommsUtils.hpp.
bool IsCollectiveKey(std::string_view key) {
  constexpr std::string_view kKeys[] = {"Collective name",
                                        "dtype",
                                        "In msg nelems",
                                        "Out msg nelems",
                                        "In split size",
                                        "Out split size",
                                        "Global rank start",
                                        "Global rank stride",
                                        "Group size",
                                        "Process Group Name",
                                        "Process Group Description",
                                        "Process Group Ranks",
                                        "Rank",
                                        "Src Rank",
                                        "Dst Rank",
                                        "Seq",
                                        "Input Tensors start",
                                        "Output Tensors start",
                                        "Is asynchronized op",
                                        "Comms Id"};
  return std::find(std::begin(kKeys), std::end(kKeys), key) != std::end(kKeys);
}

// Appends a member with the value as the file has it.
void AppendMember(std::string_view key, const JsonValue& value, std::string* out) {
  *out += out->empty() ? '{' : ',';
  AppendString(key, out);
  *out += ':';
  if (value.kind == JsonValue::Kind::kString) {
    AppendString(value.text, out);
  } else {
    *out += value.kind == JsonValue::Kind::kNull ? std::string_view("null") : value.text;
  }
}

}  // namespace

Category CategoryOf(std::string_view category) {
  if (category.empty()) return Category::kNone;
  for (const CategoryName& known : kCategories) {
    if (known.name == category) return known.category;
  }
  return Category::kOther;
}

Entity EntityOf(const JsonValue& value) {
  Entity entity;
  if (const std::optional<int64_t> number = WholeNumber(value)) {
    entity.number = *number;
    entity.has_number = true;
    return entity;
  }
  const std::string_view text = Trimmed(value.text);
  size_t digits = text.size();
  while (digits > 0 && text[digits - 1] >= '0' && text[digits - 1] <= '9') --digits;
  const auto [end, error] =
      std::from_chars(text.data() + digits, text.data() + text.size(), entity.number);
  entity.has_number = error == std::errc() && digits < text.size();
  if (!entity.has_number) entity.number = 0;
  entity.prefix = Trimmed(entity.has_number ? text.substr(0, digits) : text);
  return entity;
}

CopyName CopyOfName(std::string_view name) {
  CopyName out;
  if (name.starts_with("Memset") || name.starts_with("FillBuffer") ||
      name.starts_with("MEMORY_FILL") || name.starts_with("__amd_rocclr_fillBuffer")) {
    out.is_set = true;
  } else if (name.starts_with("Memcpy") || name.starts_with("Copy") ||
             name.starts_with("MEMORY_COPY") || name.starts_with("__amd_rocclr_copyBuffer")) {
    out.kind = CopyKindOf(name);
    out.is_copy = name.starts_with("Copy") ? out.kind != 0 : true;
  }
  if (out.is_copy || out.is_set) ReadMemoryKinds(name, &out);
  return out;
}

HostArgs HostArgsOf(const ChromeEvent& event) {
  HostArgs out;
  for (const auto& [key, value] : event.args) {
    if (key == "External id" || key == "external id")
      out.external = WholeNumber(value).value_or(-1);
    else if (key == "correlation")
      out.correlation = WholeNumber(value).value_or(-1);
    else if (key == "Python id")
      out.python_id = WholeNumber(value).value_or(-1);
    else if (key == "Python parent id")
      out.python_parent = WholeNumber(value).value_or(-1);
    else if (key == "Fwd thread id")
      out.forward_thread = WholeNumber(value).value_or(-1);
    else if (key == "Sequence number")
      out.sequence = WholeNumber(value).value_or(-1);
  }
  return out;
}

WorkArgs WorkArgsOf(const ChromeEvent& event) {
  WorkArgs out;
  JsonValue annotation, name;
  for (const auto& [key, value] : event.args) {
    if (key == "correlation")
      out.correlation = WholeNumber(value);
    else if (key == "External id" || key == "external id")
      out.external = WholeNumber(value);
    else if (key == "device")
      out.device = WholeNumber(value);
    else if (key == "context")
      out.context = WholeNumber(value);
    else if (key == "stream")
      out.stream = WholeNumber(value);
    else if (key == "bytes")
      out.bytes = WholeNumber(value);
    else if (key == "graph id")
      out.graph = WholeNumber(value);
    else if (key == "graph node id")
      out.graph_node = WholeNumber(value);
    else if (key == "fromDevice")
      out.from_device = WholeNumber(value);
    else if (key == "toDevice")
      out.to_device = WholeNumber(value);
    else if (key == "registers per thread")
      out.registers = WholeNumber(value);
    else if (key == "shared memory")
      out.shared_bytes = WholeNumber(value);
    else if (key == "grid")
      ReadDimensions(value, &out.grid);
    else if (key == "block")
      ReadDimensions(value, &out.block);
    else if (key == "annotation" && value.kind != JsonValue::Kind::kAbsent)
      annotation = value;
    else if (key == "name" && value.kind != JsonValue::Kind::kAbsent)
      name = value;
    else if (IsCollectiveKey(key) && value.kind != JsonValue::Kind::kAbsent)
      AppendMember(key, value, &out.collective);
  }
  // PyTorch writes what the program called a node of a CUDA graph into the node's work: a text, or
  // the members of a dictionary, which has a name as a rule.
  const JsonValue& mark = annotation.kind != JsonValue::Kind::kAbsent ? annotation : name;
  if (out.graph_node.value_or(0) != 0 && mark.kind != JsonValue::Kind::kAbsent)
    AppendMember("annotation", mark, &out.collective);
  if (!out.collective.empty()) out.collective += '}';
  return out;
}

std::string DetailOf(const ChromeEvent& event) {
  std::string out;
  for (const auto& [key, value] : event.args) {
    if (IsOwnKey(key) || value.kind == JsonValue::Kind::kAbsent) continue;
    AppendDetail(key == "Input dims" ? std::string_view("Input Dims") : key, value, &out);
  }
  if (!out.empty()) out += '}';
  return out;
}

uint32_t Correlation32(int64_t correlation) {
  if (correlation <= 0) return 0;
  const auto number = static_cast<uint64_t>(correlation);
  return static_cast<uint32_t>(number > 0xffffffff ? (number ^ number >> 32) | 1 : number);
}

bool IsLaunchingCall(std::string_view name) {
  constexpr std::string_view kParts[] = {"LaunchKernel",      "GraphLaunch", "ModuleLaunch",
                                         "LaunchCooperative", "MemcpyAsync", "MemsetAsync"};
  return std::any_of(std::begin(kParts), std::end(kParts), [&](std::string_view part) {
    return name.find(part) != std::string_view::npos;
  });
}

}  // namespace gpuprof::analysis::import
