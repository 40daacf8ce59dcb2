// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Writes the seeds: make_seeds FOLDER makes FOLDER/<fuzzer>/*. Run by the build, so that they
// follow the format; what fuzzers found from there is committed under corpus/.

#include <elf.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "proto/bundle.pb.h"
#include "proto/codec/chunk_builder.h"
#include "proto/codec/segments.h"
#include "proto/codec/tables.h"
#include "proto/codec/trace_writer.h"
#include "proto/container.h"
#include "proto/nvtx_payload.h"
#include "proto/record.h"
#include "proto/results/baseline.pb.h"
#include "proto/trace.pb.h"
#include "tests/fuzz/message_seeds.h"
#include "tests/unit/tracer/cupti/made_cubin.h"

namespace {

using gpuprof::codec::ChunkBuilder;
using gpuprof::codec::InternTables;
using gpuprof::codec::TraceWriter;
using gpuprof::proto::ChunkKind;
using gpuprof::proto::Record;
using gpuprof::proto::RecordKind;

void Write(const std::filesystem::path& path, const void* data, size_t bytes) {
  std::ofstream(path, std::ios::binary)
      .write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
}

void Fill(ChunkBuilder* builder, int columns) {
  for (uint64_t i = 0; i < 20; ++i) {
    std::vector<uint64_t> row(static_cast<size_t>(columns), i * i * 37);
    row[0] = 1'000'000 + i * 500;
    builder->Append(row, row[0]);
  }
}

void WriteChunk(ChunkBuilder* builder, int columns, const std::filesystem::path& path) {
  Fill(builder, columns);
  std::vector<uint8_t> bytes;
  builder->Finish(1, &bytes);
  Write(path, bytes.data(), bytes.size());
}

void MakeChunks(const std::filesystem::path& folder) {
  for (const auto& table : gpuprof::proto::kTables) {
    for (const uint32_t shift : {0u, 5u}) {
      ChunkBuilder builder(table.kind, 3, shift);
      WriteChunk(&builder, table.columns,
                 folder / (std::string(table.name) + std::to_string(shift)));
    }
    if (table.column[0].encoding != gpuprof::proto::Encoding::kGap) continue;
    ChunkBuilder builder(table.kind, 3, 0);
    builder.SetTick({32, -700'000, false});
    WriteChunk(&builder, table.columns, folder / (std::string(table.name) + "_rounding_errors"));
  }
}

void MakeContainer(const std::filesystem::path& folder) {
  const std::string path = folder / "all_kinds";
  unlink(path.c_str());
  TraceWriter writer;
  gpuprof::proto::FileHeader header = {};
  header.pid = 1;
  writer.Create(path.c_str(), header);
  InternTables tables(100, 100, 1000);
  const uint64_t frames[] = {0x1000, 0x2000, 0x3000};
  tables.InternStack(frames, 3);
  tables.DefineString(2, "aten::add", 9);
  std::vector<uint8_t> message;
  uint32_t entries = tables.TakeStrings(&message);
  writer.WriteTable(ChunkKind::kStrings, 1, 8, message.data(), message.size(), entries);
  message.clear();
  entries = tables.TakeStacks(&message);
  writer.WriteTable(ChunkKind::kStacks, 1, 9, message.data(), message.size(), entries);
  for (const auto& table : gpuprof::proto::kTables) {
    ChunkBuilder builder(table.kind, 3, 5);
    Fill(&builder, table.columns);
    writer.WriteEvents(&builder, 1, 20);
  }
  writer.WriteEnd({});
}

std::vector<uint8_t> Read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Three files in a row (see segments_fuzz.cc): names, then two segments of rows.
void MakeSegments(const std::filesystem::path& folder) {
  std::vector<uint8_t> input(4);
  for (size_t i = 0; i < 3; ++i) {
    const std::string path = folder / "file";
    unlink(path.c_str());
    TraceWriter writer;
    writer.Create(path.c_str(), {});
    std::vector<uint8_t> message;
    gpuprof::codec::AppendKeptFrom(i, &message);
    writer.WriteTable(ChunkKind::kMeta, 1, gpuprof::codec::chunk_field::kMeta, message.data(),
                      message.size(), 1);
    ChunkBuilder builder(ChunkKind::kHeap, 1, 0);
    for (size_t block = 0; block < 2 * i; ++block) {
      Fill(&builder, 5);
      writer.WriteEvents(&builder, 1, 20);
    }
    writer.Close();
    const std::vector<uint8_t> bytes = Read(path);
    if (i < 2) input[2 * i] = static_cast<uint8_t>(bytes.size());
    if (i < 2) input[2 * i + 1] = static_cast<uint8_t>(bytes.size() >> 8);
    input.insert(input.end(), bytes.begin(), bytes.end());
    unlink(path.c_str());
  }
  Write(folder / "two", input.data(), input.size());
}

void AddRows(ChunkBuilder* builder, gpuprof::proto::Trace* trace) {
  std::vector<uint8_t> bytes;
  builder->Finish(1, &bytes);
  gpuprof::proto::Trace rows;
  rows.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
  trace->MergeFrom(rows);
}

void AddRows(ChunkKind kind, uint32_t track, const std::vector<std::vector<uint64_t>>& rows,
             gpuprof::proto::Trace* trace) {
  ChunkBuilder builder(kind, track, 0);
  for (const std::vector<uint64_t>& row : rows) builder.Append(row, row[0]);
  AddRows(&builder, trace);
}

gpuprof::proto::Chunk* AddChunk(ChunkKind kind, gpuprof::proto::Trace* trace) {
  gpuprof::proto::Chunk* chunk = trace->add_chunk();
  chunk->set_kind(static_cast<uint32_t>(kind));
  chunk->set_capture(1);
  chunk->set_count(1);
  return chunk;
}

// What every trace begins with.
void AddFacts(gpuprof::proto::Trace* trace) {
  gpuprof::proto::Meta* meta = AddChunk(ChunkKind::kMeta, trace)->mutable_meta();
  meta->set_pid(1);
  meta->set_executable("/usr/bin/victim");
  meta->set_ticks_per_second(1'000'000'000);
  for (uint64_t i = 1; i <= 2; ++i) {
    auto* snapshot = AddChunk(ChunkKind::kClocks, trace)->mutable_clocks()->add_snapshot();
    snapshot->set_ticks(i * 1'000'000);
    snapshot->set_monotonic_ns(i * 1'000'000);
    snapshot->set_realtime_ns(i * 1'000'000);
  }
  gpuprof::proto::Strings* strings = AddChunk(ChunkKind::kStrings, trace)->mutable_strings();
  strings->add_id(37);
  strings->add_text("aten::add");
}

// A small trace with every table (see model_fuzz.cc).
void MakeModel(const std::filesystem::path& folder) {
  gpuprof::proto::Trace trace;
  AddFacts(&trace);
  gpuprof::proto::Stacks* stacks = AddChunk(ChunkKind::kStacks, &trace)->mutable_stacks();
  stacks->set_first_id(2);
  for (int i = 0; i < 3; ++i) {
    stacks->add_parent_back(static_cast<uint64_t>(i));
    stacks->add_pc_delta(0x1000);
  }
  auto* thread = AddChunk(ChunkKind::kThreads, &trace)->mutable_threads()->add_thread();
  thread->set_track(1);
  thread->set_tid(1);
  thread->set_name("main");
  auto* loss = AddChunk(ChunkKind::kHealth, &trace)->mutable_health()->add_loss();
  loss->set_kind(gpuprof::proto::LOSS_RING_FULL);
  loss->set_count(3);
  for (const auto& table : gpuprof::proto::kTables) {
    ChunkBuilder builder(table.kind, 1, 0);
    Fill(&builder, table.columns);
    AddRows(&builder, &trace);
  }
  const std::string bytes = trace.SerializeAsString();
  Write(folder / "every_table", bytes.data(), bytes.size());
}

// Rows that passes join: a range and its values; a call, the event that it records in one stream,
// and the waits for that of another stream and of the host; unified memory on a track of no device.
void MakeJoined(const std::filesystem::path& folder) {
  constexpr uint64_t kStart = 1'000'000, kName = 37, kFlow = 5, kEvent = 3, kRecording = 9;
  constexpr uint32_t kHost = 1, kFirst = 2, kSecond = 3, kNoDevice = 4, kNone = 0xffffffff;
  gpuprof::proto::Trace trace;
  AddFacts(&trace);
  for (const uint64_t time : {kStart, 2 * kStart}) {
    auto* reading = AddChunk(ChunkKind::kClocks, &trace)->mutable_clocks()->add_snapshot();
    reading->set_ticks(time);
    reading->set_cupti_ns(time);
  }
  for (const uint32_t track : {kFirst, kSecond, kNoDevice}) {
    auto* stream = AddChunk(ChunkKind::kStreams, &trace)->mutable_streams()->add_stream();
    stream->set_track(track);
    stream->set_device(track == kNoDevice ? kNone : 0);
    stream->set_context(track == kNoDevice ? kNone : 1);
    stream->set_stream(track == kNoDevice ? kNone : track + 5);
  }
  auto* functions = AddChunk(ChunkKind::kFunctions, &trace)->mutable_functions();
  functions->add_function(gpuprof::proto::ApiFunction(2, 135));
  functions->add_name(kName);
  const uint64_t pushed = static_cast<uint64_t>(gpuprof::proto::RangeKind::kPushPop);
  AddRows(ChunkKind::kRange, kHost, {{kStart + 900, 900, kName, pushed, 0, 0, 0, 0}}, &trace);
  AddRows(ChunkKind::kRangePayload, kHost,
          {{kStart, pushed | 1 << 15, 0, gpuprof::proto::nvtx::kDouble, 8},
           {kStart, 0, 0, 0, 0x3ff8000000000000},
           {kStart + 900, pushed | 1 << 15 | 1 << 4, 0, gpuprof::proto::nvtx::kCString, 8},
           {kStart + 900, 0, 0, 0, 0x656d616e}},
          &trace);
  AddRows(ChunkKind::kApi, kHost,
          {{kStart + 110, 10, gpuprof::proto::ApiFunction(2, 135), kFlow, 0},
           {kStart + 130, 10, gpuprof::proto::ApiFunction(2, 135), kFlow + 1, 0}},
          &trace);
  AddRows(ChunkKind::kKernel, kFirst, {{kStart + 200, 90, 0, kFlow, 0, 0}}, &trace);
  AddRows(ChunkKind::kCudaEvent, kFirst, {{kStart + 120, kFlow, kEvent, kRecording}}, &trace);
  AddRows(ChunkKind::kSync, kSecond,
          {{kStart + 125, 0, 2, kFlow + 1, 8, kEvent, 0, kRecording},
           {kStart + 300, 150, 1, kFlow + 1, kNone, kEvent, 0, kRecording}},
          &trace);
  AddRows(ChunkKind::kKernel, kSecond, {{kStart + 280, 60, 0, kFlow + 1, 0, 0}}, &trace);
  AddRows(
      ChunkKind::kUnifiedMemory, kNoDevice,
      {{kStart + 400, 20, gpuprof::proto::UnifiedMemoryOperation(1, 1), 65536, 0x7000'0000, 0, 0},
       {kStart + 500, 0, gpuprof::proto::UnifiedMemoryOperation(3, 0), 0x1000, 0x7000'0000, 0, 0}},
      &trace);
  const std::string bytes = trace.SerializeAsString();
  Write(folder / "joined_rows", bytes.data(), bytes.size());
}

// Kernels and copies of two blocks each, and the sums of both tables.
void MakeSummed(const std::filesystem::path& folder) {
  constexpr uint32_t kStream = 2, kRows = 20;
  gpuprof::proto::Trace trace;
  AddFacts(&trace);
  auto* stream = AddChunk(ChunkKind::kStreams, &trace)->mutable_streams()->add_stream();
  stream->set_track(kStream);
  stream->set_stream(7);
  for (uint64_t begin = 1'000'000; begin < 3'000'000; begin += 1'000'000) {
    std::vector<std::vector<uint64_t>> kernels, copies;
    for (uint64_t i = 1; i <= kRows; ++i) {
      kernels.push_back({begin + i * 100, 60, i % 2, i, 0, 0});
      copies.push_back({begin + i * 100, 60, i % 2, i, 4096, 0, 0, 0});
    }
    AddRows(ChunkKind::kKernel, kStream, kernels, &trace);
    AddRows(ChunkKind::kMemcpy, kStream, copies, &trace);
  }
  auto* sums = AddChunk(ChunkKind::kWorkSums, &trace)->mutable_work_sums();
  for (const ChunkKind kind : {ChunkKind::kKernel, ChunkKind::kMemcpy}) {
    auto* group = sums->add_group();
    group->set_kind(static_cast<uint32_t>(kind));
    group->set_track(kStream);
    for (const uint32_t back : {2u, 0u}) {
      group->add_blocks_back(back + (kind == ChunkKind::kKernel ? 2 : 1));
      group->add_busy(kRows * 60);
    }
    for (uint64_t key = 0; key < 2; ++key) {
      group->add_key(key);
      group->add_rows(kRows);
      group->add_total(kRows * 60);
      group->add_least(60);
      group->add_most(0);
      if (kind == ChunkKind::kMemcpy) group->add_bytes(kRows * 4096);
    }
  }
  const std::string bytes = trace.SerializeAsString();
  Write(folder / "summed", bytes.data(), bytes.size());
}

// A trace that was made of another tool's file: Python calls, an operation and its kernel, which
// have details.
void MakeImported(const std::filesystem::path& folder) {
  constexpr uint64_t kZero = gpuprof::proto::kImportedZeroTick, kName = 37;
  constexpr uint64_t kOp = static_cast<uint64_t>(ChunkKind::kOp);
  constexpr uint64_t kKernel = static_cast<uint64_t>(ChunkKind::kKernel);
  constexpr uint32_t kHost = 1, kStream = 2;
  gpuprof::proto::Trace trace;
  AddFacts(&trace);
  AddChunk(ChunkKind::kMeta, &trace)->mutable_meta()->set_imported_from("rank0.json");
  auto* stacks = AddChunk(ChunkKind::kStacks, &trace)->mutable_stacks();
  stacks->set_first_id(2);
  for (uint64_t i = 0; i < 2; ++i) {
    stacks->add_parent_back(i);
    stacks->add_pc_delta(i == 0 ? static_cast<int64_t>(uint64_t{1} << 63 | kName) : 0);
  }
  auto* stream = AddChunk(ChunkKind::kStreams, &trace)->mutable_streams()->add_stream();
  stream->set_track(kStream);
  stream->set_stream(7);
  AddRows(ChunkKind::kPython, kHost,
          {{kZero + 90, 60, kName, 2, 3, 0}, {kZero + 100, 100, kName, 0, 2, 60}}, &trace);
  AddRows(ChunkKind::kOp, kHost, {{kZero + 80, 30, kName, 0}}, &trace);
  AddRows(ChunkKind::kLaunch, kHost, {{kZero + 60, 5, 0, 3}}, &trace);
  AddRows(ChunkKind::kKernel, kStream, {{kZero + 200, 70, 0, 5, 0, 0}}, &trace);
  AddRows(ChunkKind::kRowDetail, kHost, {{kZero, kOp, 0, 3, kName, 9}}, &trace);
  AddRows(ChunkKind::kRowDetail, kStream, {{kZero, kKernel, 0, 3, kName, 0}}, &trace);
  const std::string bytes = trace.SerializeAsString();
  Write(folder / "imported", bytes.data(), bytes.size());
}

// A header, a string table and two symbols; a dynamic section with a needed library.
void MakeElf(const std::filesystem::path& folder) {
  struct {
    Elf64_Ehdr header;
    Elf64_Phdr segment[2];
    Elf64_Dyn dynamic[3];
    Elf64_Sym symbol[3];
    char names[64];
    Elf64_Shdr section[3];
  } file = {};
  std::memcpy(file.header.e_ident, ELFMAG, SELFMAG);
  file.header.e_ident[EI_CLASS] = ELFCLASS64;
  file.header.e_ident[EI_DATA] = ELFDATA2LSB;
  file.header.e_ident[EI_VERSION] = EV_CURRENT;
  file.header.e_type = ET_DYN;
  file.header.e_machine = EM_X86_64;
  file.header.e_version = EV_CURRENT;
  file.header.e_ehsize = sizeof(Elf64_Ehdr);
  file.header.e_phoff = offsetof(decltype(file), segment);
  file.header.e_phentsize = sizeof(Elf64_Phdr);
  file.header.e_phnum = 2;
  file.header.e_shoff = offsetof(decltype(file), section);
  file.header.e_shentsize = sizeof(Elf64_Shdr);
  file.header.e_shnum = 3;
  file.header.e_shstrndx = 2;
  file.segment[0] = {PT_LOAD, 0, 0, 0, 0, sizeof file, sizeof file, 0};
  file.segment[1] = {
      PT_DYNAMIC,          0, offsetof(decltype(file), dynamic), 0, 0, sizeof file.dynamic,
      sizeof file.dynamic, 0};
  file.dynamic[0].d_tag = DT_STRTAB;
  file.dynamic[0].d_un.d_ptr = offsetof(decltype(file), names);
  file.dynamic[1].d_tag = DT_NEEDED;
  file.dynamic[1].d_un.d_val = 1;
  constexpr char kNames[] = "\0libc.so.6\0_ZN3foo3barEv\0main";
  static_assert(sizeof kNames <= sizeof file.names);
  std::memcpy(file.names, kNames, sizeof kNames);
  for (size_t i = 1; i < 3; ++i) {
    file.symbol[i].st_name = i == 1 ? 11 : 25;
    file.symbol[i].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    file.symbol[i].st_shndx = 1;
    file.symbol[i].st_value = i * 64;
    file.symbol[i].st_size = 64;
  }
  file.section[1] = {
      0, SHT_SYMTAB,       0, 0, offsetof(decltype(file), symbol), sizeof file.symbol, 2, 1,
      8, sizeof(Elf64_Sym)};
  file.section[2] = {0, SHT_STRTAB, 0, 0, offsetof(decltype(file), names), sizeof file.names,
                     0, 0,          1, 0};
  Write(folder / "two_symbols", &file, sizeof file);
}

// An overlay (see ring_fuzz.cc) that puts records into the first ring.
void MakeRing(const std::filesystem::path& folder) {
  const Record records[] = {
      {100, 0, static_cast<uint8_t>(RecordKind::kStack), 0, 4, 0, 32},
      {0x1000, 0x2000, 0, 0, 0, 0x3000, 0x4000},
      {100, 0, static_cast<uint8_t>(RecordKind::kHeapAlloc), 2, 1, 0x7000, 64},
      {110, 0, static_cast<uint8_t>(RecordKind::kString), 0, 0, 2, 9},
      {0x3a3a6e657461, 0x646461, 0, 0, 0, 0, 0},
      {120, 5, static_cast<uint8_t>(RecordKind::kOp), 0, 0, 2, 1},
      {130, 0, static_cast<uint8_t>(RecordKind::kDuration), 0, 0, 0, 60},
      {130, ~0u, static_cast<uint8_t>(RecordKind::kWait), 0, 1, 0x8000, 0x9000},
      {140, 0, static_cast<uint8_t>(RecordKind::kText), 0, 0, 0, 5},
      {0x687361622f, 0, 0, 0, 0, 0, 0},
      {140, 0, static_cast<uint8_t>(RecordKind::kProcess), 0, 3, 77, 0},
      {150, 0, static_cast<uint8_t>(RecordKind::kDropped), 0, 0, 3, 0},
      {160, 0, static_cast<uint8_t>(RecordKind::kTensorTotals), 0, 0, 1, 2},
      {160, 0, static_cast<uint8_t>(RecordKind::kTensor), 0, 1, 3, 4},
      {170, 0, static_cast<uint8_t>(RecordKind::kThread), 0, 1, 5, 6},
      {180, 0, static_cast<uint8_t>(RecordKind::kHeapFree), 0, 4, 0x7000, 0},
  };
  std::vector<uint8_t> overlay;
  const auto* bytes = reinterpret_cast<const uint8_t*>(records);
  for (size_t done = 0; done < sizeof records; done += 512) {
    const size_t length = std::min<size_t>(512, sizeof records - done);
    overlay.push_back(0);
    overlay.push_back(static_cast<uint8_t>(done / 8));
    overlay.push_back(static_cast<uint8_t>(length / 8 - 1));
    overlay.insert(overlay.end(), bytes + done, bytes + done + length);
  }
  Write(folder / "records", overlay.data(), overlay.size());
  // A head of 16: only those records, and the ring header within the mutator's reach.
  const uint8_t head[] = {1, 8, 0, 16, 0, 0, 0, 0, 0, 0, 0};
  overlay.insert(overlay.end(), head, head + sizeof head);
  Write(folder / "records_with_head", overlay.data(), overlay.size());
}

void MakeBundle(const std::filesystem::path& folder) {
  gpuprof::proto::Bundle bundle;
  bundle.set_format_major(1);
  bundle.add_command("python");
  bundle.add_command("train.py");
  bundle.set_host("node1");
  bundle.set_started_realtime_ns(1'700'000'000'000'000'000u);
  bundle.set_exit_status(-1);
  bundle.add_setting("GPUPROF_CAPTURE=now");
  const std::string bytes = bundle.SerializeAsString();
  Write(folder / "full", bytes.data(), bytes.size());
  gpuprof::proto::Bundle imported;
  gpuprof::proto::Import* import = imported.mutable_import();
  import->set_importer("Kineto JSON");
  import->set_origin_realtime_ns(1'700'000'000'000'000'000);
  import->add_note()->set_kind("truncated");
  import->add_fault()->set_file("rank0.json");
  const std::string other = imported.SerializeAsString();
  Write(folder / "imported", other.data(), other.size());
}

void MakeCubins(const std::filesystem::path& folder) {
  using namespace gpuprof::tracer::cupti;
  for (const uint32_t sm : {75u, 90u}) {
    const std::string cubin = CubinOf(sm, {{"matrix", {kHmma, kHgmma}}, {"plain", {kNop, kFfma}}},
                                      sm == 75 ? Abi::k7 : Abi::k8);
    Write(folder / ("sm_" + std::to_string(sm)), cubin.data(), cubin.size());
  }
  const std::string calls = CubinOf(100, {{"calls", {kFfma}}, {"tile", {kImma, kOther}, false}});
  Write(folder / "calls", calls.data(), calls.size());
}

// Messages of baselines (see baseline_fuzz.cc).
void MakeBaselines(const std::filesystem::path& folder) {
  namespace results = gpuprof::results;
  results::Baseline baseline;
  baseline.set_program("python3 train.py");
  baseline.set_device("NVIDIA H200");
  baseline.set_device_count(1);
  baseline.add_frameworks("torch 2.11");
  baseline.add_versions("CUPTI 13.0");
  baseline.set_method(results::STEP_METHOD_OPTIMIZER);
  baseline.set_window(results::STEP_WINDOW_DEVICE);
  baseline.set_whole_ns(100'000'000);
  const std::string without_steps = baseline.SerializeAsString();
  Write(folder / "without_steps", without_steps.data(), without_steps.size());
  baseline.set_step_count(6);
  baseline.set_step_median_ns(10'300'000);
  baseline.set_step_mean_ns(10'500'000);
  baseline.set_kernel_count(3);
  for (int64_t i = 0; i < 6; ++i) baseline.add_step_ns(10'000'000 + i * 100'000);
  results::CategoryTime* category = baseline.add_categories();
  category->set_category(results::TIME_CATEGORY_COMPUTE_FP32);
  category->set_total_ns(4'000'000);
  for (auto* rows : {baseline.mutable_kernels(), baseline.mutable_ops()}) {
    results::BaselineRow* row = rows->Add();
    row->set_name(rows == baseline.mutable_kernels() ? "ampere_sgemm_128x64_nn" : "aten::mm");
    row->set_count(3);
    row->set_total_ns(4'000'000);
    row->add_shapes()->set_id(0x123456789);
    row->mutable_shapes(0)->set_count_ratio(1);
    for (int64_t i = 0; i < 6; ++i) row->add_step_ns(3'900'000 + i * 50'000);
  }
  const std::string with_steps = baseline.SerializeAsString();
  Write(folder / "with_steps", with_steps.data(), with_steps.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_seeds FOLDER\n");
    return 2;
  }
  const std::filesystem::path root = argv[1];
  for (const char* name :
       {"container", "chunk", "ring", "resume", "bundle", "segments", "model", "elf", "cubin",
        "control", "answer", "agent", "cupti", "nvtx", "baseline"})
    std::filesystem::create_directories(root / name);
  MakeContainer(root / "container");
  // A trace to be gone on with: without its end.
  const std::vector<uint8_t> whole = Read(root / "container" / "all_kinds");
  const size_t end = sizeof(gpuprof::proto::SkippableHeader) + sizeof(gpuprof::proto::EndMarker);
  Write(root / "resume" / "all_kinds", whole.data(), whole.size() - end);
  MakeChunks(root / "chunk");
  MakeRing(root / "ring");
  MakeBundle(root / "bundle");
  MakeSegments(root / "segments");
  MakeModel(root / "model");
  MakeJoined(root / "model");
  MakeSummed(root / "model");
  MakeImported(root / "model");
  MakeElf(root / "elf");
  MakeCubins(root / "cubin");
  MakeBaselines(root / "baseline");
  gpuprof::fuzz::MakeControl(root / "control");
  gpuprof::fuzz::MakeAnswers(root / "answer");
  gpuprof::fuzz::MakeAgent(root / "agent");
  gpuprof::fuzz::MakeCupti(root / "cupti");
  gpuprof::fuzz::MakePayloads(root / "nvtx");
  return 0;
}
