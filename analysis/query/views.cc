// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See views.h. `end` is a word of DuckDB's SQL: a query writes k.end or "end", as SQLite takes it.

#include "analysis/query/views.h"

namespace gpuprof::analysis {
namespace {

using enum ValueType;

// Nsight Systems packs a machine, a process and a thread into one number.
#define GPUPROF_NSYS_PID "(281474976710656 + (pid << 24))::bigint"
#define GPUPROF_NSYS_TID "(281474976710656 + (pid << 24) + tid)::bigint"
#define GPUPROF_NSYS_WORK                                                                        \
  "start_ns, end_ns, device::bigint, context::bigint, null::bigint, stream::bigint, correlation" \
  "::bigint, " GPUPROF_NSYS_PID
#define GPUPROF_NSYS_WORK_COLUMNS                                                \
  {"start", kSigned, "ns"}, {"end", kSigned, "ns"}, {"deviceId"}, {"contextId"}, \
      {"greenContextId"}, {"streamId"}, {"correlationId"}, {                     \
    "globalPid"                                                                  \
  }
#define GPUPROF_MEMORY_KIND(column)                                                            \
  "case " column                                                                               \
  " when 'pageable' then 0 when 'pinned' then 1 when 'device' then 2 when 'array' then 3 when" \
  " 'managed' then 4 when 'device_static' then 5 when 'managed_static' then 6 end::bigint"

constexpr ViewColumn kStringIds[] = {{"id"}, {"value", kText}};
constexpr ViewColumn kNsysKernels[] = {GPUPROF_NSYS_WORK_COLUMNS,
                                       {"demangledName"},
                                       {"shortName"},
                                       {"mangledName"},
                                       {"registersPerThread"},
                                       {"gridX"},
                                       {"gridY"},
                                       {"gridZ"},
                                       {"blockX"},
                                       {"blockY"},
                                       {"blockZ"},
                                       {"staticSharedMemory", kSigned, "bytes"},
                                       {"dynamicSharedMemory", kSigned, "bytes"},
                                       {"graphNodeId"},
                                       {"graphId"}};
constexpr ViewColumn kNsysCalls[] = {{"start", kSigned, "ns"}, {"end", kSigned, "ns"},
                                     {"eventClass"},           {"globalTid"},
                                     {"correlationId"},        {"nameId"},
                                     {"returnValue"},          {"callchainId"}};
constexpr ViewColumn kNsysCopies[] = {GPUPROF_NSYS_WORK_COLUMNS,
                                      {"bytes", kSigned, "bytes"},
                                      {"copyKind"},
                                      {"srcKind"},
                                      {"dstKind"},
                                      {"srcDeviceId"},
                                      {"dstDeviceId"},
                                      {"graphNodeId"}};
constexpr ViewColumn kNsysSets[] = {GPUPROF_NSYS_WORK_COLUMNS,
                                    {"value"},
                                    {"bytes", kSigned, "bytes"},
                                    {"graphNodeId"},
                                    {"memKind"}};
constexpr ViewColumn kNsysSyncs[] = {
    GPUPROF_NSYS_WORK_COLUMNS, {"syncType"}, {"eventId"}, {"eventSyncId"}};
constexpr ViewColumn kNsysRanges[] = {
    {"start", kSigned, "ns"}, {"end", kSigned, "ns"}, {"eventType"},    {"category"}, {"color"},
    {"text", kText},          {"globalTid"},          {"endGlobalTid"}, {"textId"},   {"domainId"}};
constexpr ViewColumn kNsysThreads[] = {{"nameId"}, {"priority"}, {"globalTid"}};
constexpr ViewColumn kNsysWords[] = {{"id"}, {"name", kText}, {"label", kText}};

constexpr ViewColumn kPerfettoProcesses[] = {{"upid", kUnsigned},
                                             {"id", kUnsigned},
                                             {"pid"},
                                             {"name", kText},
                                             {"start_ts", kSigned, "ns"},
                                             {"end_ts", kSigned, "ns"},
                                             {"parent_upid", kUnsigned},
                                             {"cmdline", kText}};
constexpr ViewColumn kPerfettoThreads[] = {
    {"utid", kUnsigned}, {"id", kUnsigned},   {"tid"},
    {"name", kText},     {"upid", kUnsigned}, {"is_main_thread", kBoolean}};
constexpr ViewColumn kPerfettoTracks[] = {
    {"id", kUnsigned}, {"name", kText}, {"type", kText}, {"parent_id", kUnsigned}};
constexpr ViewColumn kPerfettoThreadTracks[] = {{"id", kUnsigned},
                                                {"name", kText},
                                                {"type", kText},
                                                {"parent_id", kUnsigned},
                                                {"utid", kUnsigned}};
constexpr ViewColumn kPerfettoSlices[] = {
    {"id", kUnsigned},       {"ts", kSigned, "ns"},    {"dur", kSigned, "ns"},
    {"track_id", kUnsigned}, {"category", kText},      {"name", kText},
    {"depth", kUnsigned},    {"parent_id", kUnsigned}, {"arg_set_id", kUnsigned}};
constexpr ViewColumn kPerfettoCounters[] = {
    {"id", kUnsigned}, {"ts", kSigned, "ns"}, {"track_id", kUnsigned}, {"value", kReal}};
constexpr ViewColumn kPerfettoCounterTracks[] = {
    {"id", kUnsigned}, {"name", kText}, {"type", kText}, {"unit", kText}};
constexpr ViewColumn kPerfettoArgs[] = {{"id", kUnsigned},       {"arg_set_id", kUnsigned},
                                        {"flat_key", kText},     {"key", kText},
                                        {"int_value"},           {"string_value", kText},
                                        {"real_value", kReal},   {"value_type", kText},
                                        {"display_value", kText}};

// Slices of all tables have different ids: the place in the table, and the table.
#define GPUPROF_SLICE(table, number, category, depth)                                             \
  "select (id * 16 + " number ")::ubigint, start_ns, dur_ns, track, '" category "', name, " depth \
  "::ubigint, null::ubigint, (id * 16 + " number ")::ubigint from " table
// A value of a row, as an argument of its slice. `at`: among those of the slice.
#define GPUPROF_ARGUMENT(table, number, at, key, value)                                          \
  "select ((id * 16 + " number ") * 8 + " at ")::ubigint, (id * 16 + " number                    \
  ")::ubigint, 'args." key "', 'args." key "', " value                                           \
  "::bigint, null::varchar, null::double, 'int', " value "::varchar from " table " where " value \
  " is not null"

constexpr QueryView
    kViews
        [] =
            {
                {"StringIds", "Nsight Systems: texts that other views refer to", kStringIds,
                 "select id::bigint, name from names"},
                {"CUPTI_ACTIVITY_KIND_KERNEL", "Nsight Systems: kernels", kNsysKernels,
                 "select " GPUPROF_NSYS_WORK ", name_id::bigint, function_id::bigint, "
                 "null::bigint, registers::bigint, grid_x::bigint, "
                 "grid_y::bigint, grid_z::bigint, block_x::bigint, block_y::bigint, "
                 "block_z::bigint, "
                 "static_shared_bytes::bigint, dynamic_shared_bytes::bigint, nullif(graph_node, "
                 "0)::bigint, "
                 "nullif(graph, 0)::bigint from kernels"},
                {"CUPTI_ACTIVITY_KIND_RUNTIME",
                 "Nsight Systems: calls of CUDA's runtime and driver", kNsysCalls,
                 "select start_ns, end_ns, case when starts_with(name, 'cuda') then 0 else 1 "
                 "end::bigint, " GPUPROF_NSYS_TID
                 ", correlation::bigint, name_id::bigint, result::bigint, null::bigint from api"},
                {"CUPTI_ACTIVITY_KIND_MEMCPY", "Nsight Systems: copies", kNsysCopies,
                 "select " GPUPROF_NSYS_WORK ", bytes::bigint, case kind when 'HtoD' then 1 when "
                 "'DtoH' then 2 when 'HtoA' then 3 when "
                 "'AtoH' then 4 when 'AtoA' then 5 when 'AtoD' then 6 when 'DtoA' then 7 when "
                 "'DtoD' then 8 "
                 "when 'HtoH' then 9 when 'PtoP' then 10 else 0 end::bigint, " GPUPROF_MEMORY_KIND(
                     "source") ", " GPUPROF_MEMORY_KIND("destination") ", from_device::bigint, "
                                                                       "to_device::bigint, "
                                                                       "nullif(graph_node, "
                                                                       "0)::bigint from memcpy"},
                {"CUPTI_ACTIVITY_KIND_MEMSET", "Nsight Systems: memory that was set", kNsysSets,
                 "select " GPUPROF_NSYS_WORK ", value::bigint, bytes::bigint, nullif(graph_node, "
                 "0)::bigint, " GPUPROF_MEMORY_KIND("destination") " from memset"},
                {"CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "Nsight Systems: waits for the device",
                 kNsysSyncs,
                 // The column "stream" is the stream that was waited for.
                 "select " GPUPROF_NSYS_WORK ", case kind when 'event' then 1 when 'stream_wait' "
                 "then 2 when 'stream' then 3 when "
                 "'context' then 4 else 0 end::bigint, event::bigint, nullif(event_record, "
                 "0)::bigint from "
                 "sync"},
                {"NVTX_EVENTS", "Nsight Systems: ranges and marks of NVTX", kNsysRanges,
                 "select start_ns, case when kind = 'mark' then null else end_ns end, case kind "
                 "when "
                 "'push_pop' then 59 when 'start_end' then 60 when 'mark' then 34 end::bigint, "
                 "nullif(category, 0)::bigint, nullif(color, 0)::bigint, name, " GPUPROF_NSYS_TID
                 ", null::bigint, name_id::bigint, domain_id::bigint from ranges where kind in "
                 "('push_pop', "
                 "'start_end', 'mark')"},
                {"ThreadNames", "Nsight Systems: names of threads", kNsysThreads,
                 "select n.id::bigint, null::bigint, " GPUPROF_NSYS_TID
                 " from tracks t join names n on n.name = t.name where tid is not null"},
                {"ENUM_CUDA_MEMCPY_OPER", "Nsight Systems: words of copyKind", kNsysWords,
                 "select * from (values (0::bigint, 'CUDA_MEMCPY_KIND_UNKNOWN', 'Unknown'), "
                 "(1, 'CUDA_MEMCPY_KIND_HTOD', 'Host-to-Device'), (2, 'CUDA_MEMCPY_KIND_DTOH', "
                 "'Device-to-Host'), (3, 'CUDA_MEMCPY_KIND_HTOA', 'Host-to-Array'), (4, "
                 "'CUDA_MEMCPY_KIND_ATOH', 'Array-to-Host'), (5, 'CUDA_MEMCPY_KIND_ATOA', "
                 "'Array-to-Array'), "
                 "(6, 'CUDA_MEMCPY_KIND_ATOD', 'Array-to-Device'), (7, 'CUDA_MEMCPY_KIND_DTOA', "
                 "'Device-to-Array'), (8, 'CUDA_MEMCPY_KIND_DTOD', 'Device-to-Device'), (9, "
                 "'CUDA_MEMCPY_KIND_HTOH', 'Host-to-Host'), (10, 'CUDA_MEMCPY_KIND_PTOP', "
                 "'Peer-to-Peer'))"},
                {"ENUM_CUPTI_SYNC_TYPE", "Nsight Systems: words of syncType", kNsysWords,
                 "select * from (values (0::bigint, 'CUPTI_SYNC_TYPE_UNKNOWN', 'Unknown'), (1, "
                 "'CUPTI_SYNC_TYPE_EVENT_SYNCHRONIZE', 'Event sync'), (2, "
                 "'CUPTI_SYNC_TYPE_STREAM_WAIT_EVENT', 'Stream wait for event'), (3, "
                 "'CUPTI_SYNC_TYPE_STREAM_SYNCHRONIZE', 'Stream sync'), (4, "
                 "'CUPTI_SYNC_TYPE_CONTEXT_SYNCHRONIZE', 'Context sync'))"},
                {"process", "Perfetto: processes", kPerfettoProcesses,
                 "select p.process, p.process, p.pid, p.name, p.start_ns, p.end_ns, (select "
                 "max(o.process) "
                 "from processes o where o.pid = p.parent_pid and o.host = p.host), p.executable "
                 "from "
                 "processes p"},
                {"thread", "Perfetto: threads", kPerfettoThreads,
                 "select track, track, tid, name, process, tid = pid from tracks where tid is not "
                 "null"},
                {"track", "Perfetto: threads and streams, which slices are on", kPerfettoTracks,
                 "select track, name, case when tid is null then 'gpu_track' else 'thread_track' "
                 "end, "
                 "null::ubigint from tracks where process is not null"},
                {"thread_track", "Perfetto: tracks of threads", kPerfettoThreadTracks,
                 "select track, name, 'thread_track', null::ubigint, track from tracks where tid "
                 "is not null"},
                {"slice",
                 "Perfetto: operations, ranges, calls, Python functions, and work of devices",
                 kPerfettoSlices,
                 GPUPROF_SLICE("ops", "0", "op", "depth") " union all " GPUPROF_SLICE(
                     "ranges", "1", "range",
                     "depth") " union all " GPUPROF_SLICE("python", "2", "python",
                                                          "depth") " union all " GPUPROF_SLICE("ap"
                                                                                               "i",
                                                                                               "3",
                                                                                               "ap"
                                                                                               "i",
                                                                                               "0") " union all " GPUPROF_SLICE("kernels",
                                                                                                                                "4",
                                                                                                                                "kernel",
                                                                                                                                "0") " union all select (id * 16 + 5)::ubigint, start_ns, dur_ns, track, 'memcpy', 'Memcpy ' || "
                                                                                                                                     "kind, 0::ubigint, null::ubigint, (id * 16 + 5)::ubigint from memcpy union all select (id * "
                                                                                                                                     "16 + 6)::ubigint, start_ns, dur_ns, track, 'memset', 'Memset', 0::ubigint, null::ubigint, "
                                                                                                                                     "(id * 16 + 6)::ubigint from memset"},
                {"counter_track", "Perfetto: counters", kPerfettoCounterTracks,
                 "select any_value(track) * 65536 + name_id, name, 'counter_track', "
                 "any_value(unit) from "
                 "counters group by track, name_id, name"},
                {"counter", "Perfetto: readings of counters", kPerfettoCounters,
                 "select id, time_ns, track * 65536 + name_id, reading from counters"},
                {"args", "Perfetto: further values of slices", kPerfettoArgs,
                 GPUPROF_ARGUMENT(
                     "kernels", "4", "0", "correlation", "correlation") " union "
                                                                        "all " GPUPROF_ARGUMENT("ke"
                                                                                                "rn"
                                                                                                "el"
                                                                                                "s",
                                                                                                "4",
                                                                                                "1",
                                                                                                "st"
                                                                                                "re"
                                                                                                "a"
                                                                                                "m",
                                                                                                "st"
                                                                                                "re"
                                                                                                "a"
                                                                                                "m") " union all " GPUPROF_ARGUMENT("kernels",
                                                                                                                                    "4",
                                                                                                                                    "2",
                                                                                                                                    "device",
                                                                                                                                    "device") " union all " GPUPROF_ARGUMENT("kernels",
                                                                                                                                                                             "4",
                                                                                                                                                                             "3",
                                                                                                                                                                             "registers per thread",
                                                                                                                                                                             "registers") " union all " GPUPROF_ARGUMENT("memcpy",
                                                                                                                                                                                                                         "5",
                                                                                                                                                                                                                         "0",
                                                                                                                                                                                                                         "correlation",
                                                                                                                                                                                                                         "correlation") " union all " GPUPROF_ARGUMENT("memcpy",
                                                                                                                                                                                                                                                                       "5",
                                                                                                                                                                                                                                                                       "1",
                                                                                                                                                                                                                                                                       "stream",
                                                                                                                                                                                                                                                                       "stream") " union all " GPUPROF_ARGUMENT("memcpy",
                                                                                                                                                                                                                                                                                                                "5",
                                                                                                                                                                                                                                                                                                                "2",
                                                                                                                                                                                                                                                                                                                "device",
                                                                                                                                                                                                                                                                                                                "device") " union all " GPUPROF_ARGUMENT("memcpy",
                                                                                                                                                                                                                                                                                                                                                         "5",
                                                                                                                                                                                                                                                                                                                                                         "3",
                                                                                                                                                                                                                                                                                                                                                         "bytes",
                                                                                                                                                                                                                                                                                                                                                         "bytes") " union all " GPUPROF_ARGUMENT("memset",
                                                                                                                                                                                                                                                                                                                                                                                                 "6",
                                                                                                                                                                                                                                                                                                                                                                                                 "0",
                                                                                                                                                                                                                                                                                                                                                                                                 "correlation",
                                                                                                                                                                                                                                                                                                                                                                                                 "correlation") " union all " GPUPROF_ARGUMENT("memset",
                                                                                                                                                                                                                                                                                                                                                                                                                                               "6",
                                                                                                                                                                                                                                                                                                                                                                                                                                               "1",
                                                                                                                                                                                                                                                                                                                                                                                                                                               "stream",
                                                                                                                                                                                                                                                                                                                                                                                                                                               "stream") " union all " GPUPROF_ARGUMENT("memset",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "6",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "2",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "device",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                        "device") " union all " GPUPROF_ARGUMENT("memset",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 "6",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 "3",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 "bytes",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                 "bytes") " union all " GPUPROF_ARGUMENT("api",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                         "3",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                         "0",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                         "correlation",
                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                                         "correlation")},
};

}  // namespace

std::span<const QueryView> QueryViews() { return kViews; }

std::string StatementOf(const QueryView& view) {
  std::string columns;
  for (const ViewColumn& column : view.columns)
    columns.append(columns.empty() ? "\"" : ", \"").append(column.name).append("\"");
  return "create view \"" + std::string(view.name) + "\"(" + columns + ") as " +
         std::string(view.select);
}

}  // namespace gpuprof::analysis
