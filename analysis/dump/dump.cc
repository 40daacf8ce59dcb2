// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Dump: every row of a trace as one line of text, for `gpuprof dump`, for tests and for other
// programs. One thread.
//
//   time_ns pid tid track kind key=value ...
//
// Order: processes as in the model, their tracks by number, and within a track rows by time (the
// END of spans); rows of one kind stay in the order in which they were written, and of rows of one
// time the kinds go in the order of proto/schema.h. Keys of a kind always come in the same order.
// They follow from the types of a table's columns (row_plan.h). Those in brackets come only where
// there is something to say:
//
//   heap     call address [size] [stack [frames]] [flags] capture
//   wait     kind start_ns duration_ns object caller [caller_name] [owner_tid] [stack
//            [frames]] [flags]
//   op       name start_ns duration_ns scope depth [flags] [external] [sequence] [detail]
//            the last three of imported traces
//   tensor   device address bytes total_allocated_bytes total_reserved_bytes
//   thread   event, then start_routine [start_routine_name] creator_tid | name
//   process  event, then child_pid | text errno | exit_status exit_way
//   mapping  call address size [stack [frames]] [flags] capture
//   range    kind [domain] name start_ns duration_ns depth [category] [color] [payload]
//            [begin_tid] [earlier] [flags]   earlier: a name from before the capture
//   range_value  kind [domain] depth name value   behind the row of their range; a text in quotes
//   python   name start_ns duration_ns self_ns [stack]   calls of Python functions
//   launch   function correlation [stack [frames]]
//   counter  device name value unit source [of_pid]   behind all processes: pid and tid are those
//            of gpuprof's sampler and 0, a value is a decimal number, of unit mask a hexadecimal
//            one
//   kernel   name start_ns duration_ns device context stream grid block [cluster] registers
//            static_shared_bytes dynamic_shared_bytes [matrix_ops] correlation [graph graph_node]
//            capture
//   memcpy   kind source destination start_ns duration_ns bytes device context stream [async]
//            correlation [graph graph_node] [from_device to_device]
//   memset   destination start_ns duration_ns bytes value device context stream [async] correlation
//            [graph graph_node]
//   api      function start_ns duration_ns correlation [result] [stack]
//   sync     kind start_ns duration_ns context stream [event] [event_record] correlation [result]
//   device_memory  operation kind address bytes device context [stream] [async] [pool] correlation
//            capture
//   memory_pool    operation pool size_bytes utilized_bytes threshold_bytes device [correlation]
//   graph_launch   graph start_ns duration_ns device context stream correlation
//   overhead       kind start_ns duration_ns [correlation] [bytes]
//   cuda_event     event [record] device context stream correlation
//   host_function  start_ns duration_ns [thread_tid] device context stream correlation
//            [graph graph_node]
//   unified_memory kind start_ns duration_ns [cause] value address source destination
//
// Behind a stream that has a name: stream_name.
//
// Behind the keys of kernels, memcpy, memset, api, sync, graph_launch and host_function: [weight],
// how many the row stands for where only a part was recorded. Rows of imported traces have
// [external] and [detail]. Names of kernels are as CUPTI gives them, mangled.
//
// Addresses are hexadecimal with 0x, texts are in double quotes with the escapes of JSON, codes
// that this program does not know are numbers. frames and names of functions are left out where
// PassOptions::symbolize is false.

#include <array>
#include <iterator>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/dump/line_writer.h"
#include "analysis/dump/row_columns.h"
#include "analysis/dump/row_plan.h"
#include "analysis/dump/special_values.h"
#include "analysis/dump/value_writer.h"
#include "analysis/model/trace.h"
#include "proto/schema.h"

namespace gpuprof::analysis {
namespace {

// How the rows of each table are written: the same for all processes.
class Plans {
 public:
  Plans() {
    for (size_t i = 0; i < std::size(proto::kTables); ++i) plans_[i] = PlanOf(proto::kTables[i]);
    range_value_.emplace_back().write = WriteRangeValue;
  }
  const RowPlan& Of(const proto::TableSpec& table) const {
    return plans_[static_cast<size_t>(&table - proto::kTables)];
  }
  const RowPlan& range_value() const { return range_value_; }

 private:
  std::array<RowPlan, std::size(proto::kTables)> plans_;
  RowPlan range_value_;
};

class ProcessDump {
 public:
  ProcessDump(const Trace& trace, const Process& process, const PassOptions& options,
              const Plans& plans, LineWriter* out)
      : process_(process), plans_(plans), values_(trace, process, options, out), out_(out) {}

  // False: the sink wants no more.
  bool DumpTrack(const Track& track) {
    std::vector<Table> tables = TablesOf(track);
    while (Table* next = NextTable(&tables)) {
      out_->Number(next->time_ns);
      out_->Number(process_.pid);
      out_->Number(track.tid);
      out_->Number(track.id);
      out_->Word(next->name);
      WriteRow(*next->plan, {track, next->columns, next->spec, next->row}, &values_);
      if (!out_->EndLine()) return false;
      next->Advance();
    }
    return true;
  }

 private:
  // One kind of event on a track, and its next row.
  struct Table {
    std::string_view name;
    const proto::TableSpec* spec;  // null: the model's own
    const RowPlan* plan;
    RowColumns columns;
    size_t row = 0;
    int64_t time_ns = 0;

    bool has_rows() const { return row < columns.rows(); }
    void Advance() {
      ++row;
      if (has_rows()) time_ns = columns.Time(row);
    }
  };

  // Lists the tables with rows, in the order of the schema. The values of ranges follow the ranges.
  std::vector<Table> TablesOf(const Track& track) const {
    std::vector<Table> tables;
    const auto add = [&](Table table) {
      if (!table.has_rows()) return;
      table.time_ns = table.columns.Time(0);
      tables.push_back(table);
    };
    for (const proto::TableSpec& spec : proto::kTables) {
      add({spec.name, &spec, &plans_.Of(spec), RowColumns(track, spec.kind)});
      if (spec.kind == proto::ChunkKind::kRange)
        add({"range_value", nullptr, &plans_.range_value(), RowColumns(track.range_value.end_ns)});
    }
    return tables;
  }

  // Finds the table whose next row comes first. Null: all are done.
  static Table* NextTable(std::vector<Table>* tables) {
    Table* best = nullptr;
    for (Table& table : *tables) {
      if (!table.has_rows() || (best != nullptr && table.time_ns >= best->time_ns)) continue;
      best = &table;
    }
    return best;
  }

  const Process& process_;
  const Plans& plans_;
  ValueWriter values_;
  LineWriter* out_;
};

}  // namespace

Error Dump(const Trace& trace, const PassOptions& options, Sink sink, void* context) {
  if (!trace.tables.Contains(TableSet::All())) {
    return Error{ErrorKind::kUsage,
                 "only a part of this trace was read: open it with all its tables"};
  }
  LineWriter out(sink, context);
  const Plans plans;
  bool found = options.pid == 0;
  for (const Process& process : trace.processes) {
    if (options.pid != 0 && process.pid != options.pid) continue;
    found = true;
    ProcessDump dump(trace, process, options, plans, &out);
    for (const Track& track : process.tracks) {
      if (!dump.DumpTrack(track)) return {};
    }
  }
  for (const Process& sampler : trace.samplers) {
    if (options.pid != 0) break;
    ProcessDump dump(trace, sampler, options, plans, &out);
    for (const Track& track : sampler.tracks) {
      if (!dump.DumpTrack(track)) return {};
    }
  }
  out.Flush();
  if (!found) {
    return Error{ErrorKind::kUsage, "no process " + std::to_string(options.pid) + " in " +
                                        trace.path + "; `gpuprof info` lists the processes"};
  }
  return {};
}

}  // namespace gpuprof::analysis
