// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See rocprof_reader.h.

#include "analysis/import/rocprof_reader.h"

#include <algorithm>
#include <charconv>
#include <new>
#include <utility>

#include "analysis/import/inflating_source.h"
#include "analysis/import/json_stream.h"
#include "analysis/import/json_string.h"

namespace gpuprof::analysis::import {
namespace {

constexpr std::string_view kTopKey = "rocprofiler-sdk-tool";
// A record takes about a kilobyte; a process's facts hold its environment.
constexpr size_t kLargestElement = 16 << 20;
// Compressed text that has no record in so many bytes is made to fill time.
constexpr uint64_t kPatience = uint64_t{1} << 30;
constexpr size_t kLongestName = 64 << 10;
// No release has so many kinds, or so many operations of one.
constexpr size_t kMostKinds = 1024, kMostOperations = 16'384;

std::optional<uint64_t> Unsigned(std::string_view json) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(json.data(), json.data() + json.size(), number);
  if (error != std::errc() || end != json.data() + json.size()) return std::nullopt;
  return number;
}

std::optional<int64_t> Time(std::string_view json) {
  const std::optional<uint64_t> number = Unsigned(json);
  if (!number || *number > INT64_MAX) return std::nullopt;
  return static_cast<int64_t>(*number);
}

void Set(std::string_view json, uint64_t* to) { *to = Unsigned(json).value_or(0); }

// Stores a handle, which is a number or an object with one.
void SetHandle(std::string_view json, uint64_t* to) {
  if (!json.starts_with('{')) return Set(json, to);
  ForEachMember(json, [to](std::string_view key, std::string_view value) {
    if (key == "handle") Set(value, to);
  });
}

void SetAxes(std::string_view json, std::array<uint64_t, 3>* to) {
  ForEachMember(json, [to](std::string_view key, std::string_view value) {
    if (key.size() == 1 && key[0] >= 'x' && key[0] <= 'z')
      Set(value, &(*to)[static_cast<size_t>(key[0] - 'x')]);
  });
}

void ReadDispatch(std::string_view json, RocprofRecord* to) {
  ForEachMember(json, [to](std::string_view key, std::string_view value) {
    if (key == "agent_id") return SetHandle(value, &to->agent);
    if (key == "queue_id") return SetHandle(value, &to->queue);
    if (key == "kernel_id") return Set(value, &to->kernel);
    if (key == "private_segment_size") return Set(value, &to->scratch_bytes);
    if (key == "group_segment_size") return Set(value, &to->lds_bytes);
    if (key == "workgroup_size") return SetAxes(value, &to->group);
    if (key == "grid_size") return SetAxes(value, &to->work_items);
  });
}

void ReadCorrelation(std::string_view json, RocprofRecord* to) {
  ForEachMember(json, [to](std::string_view key, std::string_view value) {
    if (key == "internal") Set(value, &to->correlation);
  });
}

void ReadDispatchData(std::string_view json, RocprofRecord* to) {
  ForEachMember(json, [to](std::string_view key, std::string_view value) {
    if (key == "start_timestamp") to->start_ns = Time(value);
    if (key == "end_timestamp") to->end_ns = Time(value);
    if (key == "correlation_id") ReadCorrelation(value, to);
    if (key == "dispatch_info") ReadDispatch(value, to);
  });
}

void ReadRecord(std::string_view json, RocprofRecord* to) {
  ForEachMember(json, [to](std::string_view key, std::string_view value) {
    if (key == "kind") return Set(value, &to->kind);
    if (key == "operation") return Set(value, &to->operation);
    if (key == "thread_id") return Set(value, &to->thread);
    if (key == "start_timestamp") {
      to->start_ns = Time(value);
    } else if (key == "end_timestamp") {
      to->end_ns = Time(value);
    } else if (key == "correlation_id") {
      ReadCorrelation(value, to);
    } else if (key == "dispatch_info") {
      ReadDispatch(value, to);
    } else if (key == "dispatch_data") {
      // A record of counters has the dispatch that they are of.
      ReadDispatchData(value, to);
    } else if (key == "stream_id") {
      SetHandle(value, &to->stream);
    } else if (key == "src_agent_id") {
      SetHandle(value, &to->from_agent);
    } else if (key == "dst_agent_id") {
      SetHandle(value, &to->to_agent);
    } else if (key == "bytes") {
      to->bytes = Unsigned(value);
    }
  });
}

class Document {
 public:
  Document(ByteSource* source, const std::string& name, RocprofHandler* handler, RocprofText* text)
      : name_(name),
        source_(source, name),
        window_(&source_),
        stream_(&window_),
        handler_(handler),
        text_(text) {}

  Error Read() {
    *text_ = {};
    window_.Fill();
    if (source_.is_compressed()) {
      window_.LimitPatience(kPatience,
                            Unreadable(name_ + ": the compressed bytes inflate to 1 GiB and more "
                                               "without a record"));
    }
    if (window_.view().starts_with("\xef\xbb\xbf")) window_.Drop(3);
    bool is_there = false;
    stream_.Object([&](std::string_view key) {
      if (key != kTopKey) return stream_.Skip();
      is_there = true;
      return ReadProcesses();
    });
    text_->bytes = window_.offset() + window_.size();
    text_->is_damaged = source_.is_damaged();
    text_->stopped_at = stream_.offset();
    text_->is_truncated = stream_.state() == JsonStream::State::kEnds;
    text_->is_broken = stream_.state() == JsonStream::State::kBroken;
    if (refusal_) return refusal_;
    if (window_.error()) return window_.error();
    if (is_there && text_->processes != 0) return {};
    return Unreadable(name_ + (is_there ? ": the file of rocprofv3 has no process"
                                        : ": the JSON has no member rocprofiler-sdk-tool"));
  }

 private:
  // Old conversions have the object itself in place of the array with it.
  bool ReadProcesses() {
    if (stream_.Peek() == '{') return ReadProcess();
    return stream_.Array([&] { return stream_.Peek() == '{' ? ReadProcess() : SkipOther(); });
  }

  bool SkipOther() {
    ++text_->unreadable;
    return stream_.Skip();
  }

  bool ReadProcess() {
    ++text_->processes;
    handler_->OnProcess();
    return stream_.Object([&](std::string_view key) {
      const int next = stream_.Peek();
      if (key == "metadata" && next == '{') return ReadFacts();
      if (key == "strings" && next == '{') return ReadStrings();
      if (key == "agents" && next == '[')
        return Elements([&](std::string_view json) { ReadAgent(json); });
      if (key == "kernel_symbols" && next == '[')
        return Elements([&](std::string_view json) { ReadKernel(json); });
      if ((key == "buffer_records" || key == "callback_records") && next == '{')
        return ReadSections();
      return stream_.Skip();
    });
  }

  // Hands over the text of each element of an array.
  template <typename Each>
  bool Elements(Each&& each) {
    return stream_.Array([&] {
      if (!Wanted()) return false;
      std::string_view json;
      if (stream_.Peek() != '{') return SkipOther();
      if (stream_.Value(&json, kLargestElement)) {
        each(json);
        return true;
      }
      return stream_.state() == JsonStream::State::kGood && SkipOther();
    });
  }

  bool Wanted() {
    constexpr uint64_t kAtOnce = 256;
    if (++elements_ % kAtOnce == 0) refusal_ = handler_->Refusal();
    return !refusal_;
  }

  bool ReadSections() {
    return stream_.Object([&](std::string_view key) {
      if (stream_.Peek() != '[') return stream_.Skip();
      const std::string section(key);
      uint64_t unread = 0;
      bool is_wanted = true;
      const bool is_whole = stream_.Array([&] {
        std::string_view json;
        if (!is_wanted) {
          ++unread;
          return stream_.Skip();
        }
        if (!Wanted()) return false;
        if (stream_.Peek() != '{') return SkipOther();
        if (!stream_.Value(&json, kLargestElement))
          return stream_.state() == JsonStream::State::kGood && SkipOther();
        RocprofRecord record;
        ReadRecord(json, &record);
        window_.MarkProgress();
        is_wanted = handler_->OnRecord(section, record);
        if (!is_wanted) ++unread;
        return true;
      });
      if (unread != 0) handler_->OnUnread(section, unread);
      return is_whole;
    });
  }

  bool ReadFacts() {
    RocprofProcess process;
    const auto command = [&](std::string_view value) {
      constexpr size_t kMostWords = 1000;
      for (const JsonValue& word : import::Elements({JsonValue::Kind::kArray, value}, kMostWords))
        if (word.kind == JsonValue::Kind::kString) process.command.push_back(Text(word.text));
    };
    const bool is_whole = stream_.Object([&](std::string_view key) {
      const bool is_wanted = key == "pid" || key == "node" || key == "command";
      std::string_view json;
      if (!is_wanted) return stream_.Skip();
      const std::string kept(key);
      if (!stream_.Value(&json, kLargestElement))
        return stream_.state() == JsonStream::State::kGood && SkipOther();
      if (kept == "pid") process.pid = Time(json).value_or(0);
      if (kept == "command" && json.starts_with('[')) command(json);
      if (kept == "node") {
        ForEachMember(json, [&](std::string_view inner, std::string_view value) {
          if (inner == "hostname") process.host = Quoted(value);
          if (inner == "machine_id") process.machine = Quoted(value);
        });
      }
      return true;
    });
    handler_->OnFacts(process);
    return is_whole;
  }

  bool ReadStrings() {
    return stream_.Object([&](std::string_view key) {
      if (stream_.Peek() != '[') return stream_.Skip();
      uint64_t kind = 0;
      if (key == "buffer_records")
        return Elements([&](std::string_view json) { ReadKind(json, kind++); });
      if (key == "marker_api") {
        return Elements([&](std::string_view json) {
          uint64_t correlation = 0;
          std::string text;
          ForEachMember(json, [&](std::string_view inner, std::string_view value) {
            if (inner == "key") Set(value, &correlation);
            if (inner == "value") text = Quoted(value);
          });
          handler_->OnMessage(correlation, text);
        });
      }
      return stream_.Skip();
    });
  }

  void ReadKind(std::string_view json, uint64_t kind) {
    if (kind >= kMostKinds) return;
    std::string name;
    std::vector<std::string> operations;
    ForEachMember(json, [&](std::string_view key, std::string_view value) {
      if (key == "kind") name = Quoted(value);
      if (key != "operations" || !value.starts_with('[')) return;
      for (const JsonValue& each :
           import::Elements({JsonValue::Kind::kArray, value}, kMostOperations))
        operations.push_back(each.kind == JsonValue::Kind::kString ? Text(each.text) : "");
    });
    handler_->OnKind(kind, name, operations);
  }

  void ReadAgent(std::string_view json) {
    constexpr uint64_t kGpu = 2;
    RocprofAgent agent;
    uint64_t type = 0;
    ForEachMember(json, [&](std::string_view key, std::string_view value) {
      if (key == "id") return SetHandle(value, &agent.handle);
      if (key == "type") return Set(value, &type);
      if (key == "logical_node_id") return Set(value, &agent.order);
      if (key == "gfx_target_version") return Set(value, &agent.target);
      if (key == "cu_count") return Set(value, &agent.units);
      if (key == "max_engine_clk_fcompute") return Set(value, &agent.clock_mhz);
      if (key == "wave_front_size") return Set(value, &agent.wave_lanes);
      if (key == "max_waves_per_cu") return Set(value, &agent.waves_per_unit);
      if (key == "lds_size_in_kb") return Set(value, &agent.lds_kib);
      if (key == "workgroup_max_size") return Set(value, &agent.workgroup_most);
      if (key == "local_mem_size") return Set(value, &agent.memory_bytes);
      if (key == "name") agent.name = Quoted(value);
      if (key == "product_name") agent.product = Quoted(value);
    });
    agent.is_gpu = type == kGpu;
    handler_->OnAgent(agent);
  }

  void ReadKernel(std::string_view json) {
    RocprofKernel kernel;
    std::string names[4];
    uint64_t accumulation = 0;
    ForEachMember(json, [&](std::string_view key, std::string_view value) {
      constexpr std::string_view kNames[] = {"formatted_kernel_name", "demangled_kernel_name",
                                             "truncated_kernel_name", "kernel_name"};
      if (key == "kernel_id") return Set(value, &kernel.id);
      if (key == "group_segment_size") return Set(value, &kernel.lds_bytes);
      if (key == "arch_vgpr_count") return Set(value, &kernel.vector_registers);
      if (key == "accum_vgpr_count") return Set(value, &accumulation);
      for (size_t i = 0; i < std::size(kNames); ++i)
        if (key == kNames[i]) names[i] = Quoted(value);
    });
    constexpr uint64_t kMostRegisters = 4096;
    kernel.vector_registers =
        std::min(kernel.vector_registers, kMostRegisters) + std::min(accumulation, kMostRegisters);
    for (std::string& name : names)
      if (kernel.name.empty()) kernel.name = std::move(name);
    // The symbol is that of the kernel's descriptor.
    for (const std::string_view end : {" [clone .kd]", ".kd"})
      if (kernel.name.ends_with(end)) kernel.name.erase(kernel.name.size() - end.size());
    handler_->OnKernel(kernel);
  }

  // Returns the text of a string, which has its quotes. Empty: it is something else.
  std::string Quoted(std::string_view json) {
    if (json.size() < 2 || json.front() != '"') return "";
    return Text(json.substr(1, json.size() - 2));
  }
  std::string Text(std::string_view raw) {
    TextFaults faults;
    arena_.Clear();
    const std::string_view text =
        DecodeString(raw.substr(0, kLongestName), false, &arena_, &faults);
    text_->bad_texts += faults.bad_texts;
    return std::string(text);
  }

  std::string name_;
  InflatingSource source_;
  TextWindow window_;
  JsonStream stream_;
  RocprofHandler* handler_;
  RocprofText* text_;
  TextArena arena_;
  uint64_t elements_ = 0;
  Error refusal_;
};

}  // namespace

bool BeginsAsRocprof(std::string_view text) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  size_t at = SkipBlanks(text, 0);
  if (at >= text.size() || text[at] != '{') return false;
  at = SkipBlanks(text, at + 1);
  return at < text.size() && text[at] == '"' && text.substr(at + 1).starts_with(kTopKey) &&
         text.substr(at + 1 + kTopKey.size()).starts_with('"');
}

Error ReadRocprof(ByteSource* source, const std::string& name, RocprofHandler* handler,
                  RocprofText* text) {
  try {
    return Document(source, name, handler, text).Read();
  } catch (const std::bad_alloc&) {
    return Unreadable(name + ": there is not enough memory to read it; free some");
  }
}

}  // namespace gpuprof::analysis::import
