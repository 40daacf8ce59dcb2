// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See xplane_writer.h.

#include "analysis/export/xplane_writer.h"

#include "analysis/base/utf8.h"
#include "analysis/export/wire_out.h"

namespace gpuprof::analysis {
namespace {

using wire::AppendBytes;
using wire::AppendNumber;

constexpr int64_t kPicoseconds = 1000;  // of a nanosecond

}  // namespace

XPlaneWriter::XPlaneWriter(int64_t id, std::string_view name) {
  AppendNumber(1, static_cast<uint64_t>(id), &head_);
  AppendBytes(2, Utf8Of(name), &head_);
}

uint64_t XPlaneWriter::Names::IdOf(std::string_view text, uint32_t field, std::string* table) {
  const auto [at, added] = ids_.try_emplace(std::string(text), ids_.size() + 1);
  if (!added) return at->second;
  std::string metadata, entry;
  AppendNumber(1, at->second, &metadata);
  AppendBytes(2, Utf8Of(text), &metadata);
  AppendNumber(1, at->second, &entry);
  AppendBytes(2, metadata, &entry);
  AppendBytes(field, entry, table);
  return at->second;
}

void XPlaneWriter::BeginLine(int64_t id, std::string_view name) {
  line_.clear();
  AppendNumber(1, static_cast<uint64_t>(id), &line_);
  AppendBytes(2, Utf8Of(name), &line_);
}

void XPlaneWriter::EndLine() { AppendBytes(3, line_, &lines_); }

void XPlaneWriter::BeginEvent(std::string_view name, int64_t start_ns, int64_t duration_ns) {
  event_.clear();
  AppendNumber(1, names_.IdOf(name, 4, &tables_), &event_);
  AppendNumber(2, static_cast<uint64_t>(start_ns * kPicoseconds), &event_);
  AppendNumber(3, static_cast<uint64_t>(duration_ns * kPicoseconds), &event_);
  has_event_ = true;
}

void XPlaneWriter::EndEvent() {
  AppendBytes(4, event_, &line_);
  has_event_ = false;
  ++events_;
}

std::string XPlaneWriter::StatOf(std::string_view key) {
  std::string stat;
  AppendNumber(1, StatId(key), &stat);
  return stat;
}

void XPlaneWriter::AddStat(std::string_view stat) {
  if (has_event_) {
    AppendBytes(4, stat, &event_);
  } else {
    AppendBytes(6, stat, &plane_stats_);
  }
}

void XPlaneWriter::Number(std::string_view key, int64_t value) {
  std::string stat = StatOf(key);
  AppendNumber(4, static_cast<uint64_t>(value), &stat);
  AddStat(stat);
}

void XPlaneWriter::Unsigned(std::string_view key, uint64_t value) {
  std::string stat = StatOf(key);
  AppendNumber(3, value, &stat);
  AddStat(stat);
}

void XPlaneWriter::Real(std::string_view key, double value) {
  std::string stat = StatOf(key);
  wire::AppendReal(2, value, &stat);
  AddStat(stat);
}

// An event refers to a text, which has a number among the names of stats. Values of planes are few.
void XPlaneWriter::Text(std::string_view key, std::string_view value) {
  std::string stat = StatOf(key);
  if (has_event_) {
    AppendNumber(7, StatId(value), &stat);
  } else {
    AppendBytes(5, Utf8Of(value), &stat);
  }
  AddStat(stat);
}

void XPlaneWriter::Metadata(int64_t id, std::string_view name, std::string_view key,
                            std::string_view bytes) {
  std::string stat = StatOf(key), metadata, entry;
  AppendBytes(6, bytes, &stat);
  AppendNumber(1, static_cast<uint64_t>(id), &metadata);
  AppendBytes(2, Utf8Of(name), &metadata);
  AppendBytes(5, stat, &metadata);
  AppendNumber(1, static_cast<uint64_t>(id), &entry);
  AppendBytes(2, metadata, &entry);
  AppendBytes(4, entry, &tables_);
}

std::string XPlaneWriter::Take() {
  std::string out;
  wire::AppendVarint(1 << 3 | wire::kBytes, &out);
  wire::AppendVarint(head_.size() + lines_.size() + tables_.size() + plane_stats_.size(), &out);
  out.reserve(out.size() + head_.size() + lines_.size() + tables_.size() + plane_stats_.size());
  for (std::string* part : {&head_, &lines_, &tables_, &plane_stats_}) {
    out += *part;
    part->clear();
    part->shrink_to_fit();
  }
  return out;
}

std::string XSpaceHostName(std::string_view host) {
  std::string out;
  AppendBytes(4, Utf8Of(host), &out);
  return out;
}

}  // namespace gpuprof::analysis
