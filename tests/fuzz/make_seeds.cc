// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Writes the seed corpus: make_seeds FOLDER makes FOLDER/{container,chunk,ring,bundle}/*. Run by
// the build, so that seeds follow the format; inputs that once found a fault are committed beside
// them, under corpus/.

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "proto/bundle.pb.h"
#include "proto/codec/chunk_builder.h"
#include "proto/codec/tables.h"
#include "proto/codec/trace_writer.h"
#include "proto/record.h"

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
    builder->Append(row.data(), row[0]);
  }
}

void MakeChunks(const std::filesystem::path& folder) {
  for (const auto& table : gpuprof::proto::kTables) {
    for (const uint32_t shift : {0u, 5u}) {
      ChunkBuilder builder(table.kind, 3, shift);
      Fill(&builder, table.columns);
      std::vector<uint8_t> bytes;
      builder.Finish(1, &bytes);
      Write(folder / (std::string(table.name) + std::to_string(shift)), bytes.data(), bytes.size());
    }
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
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: make_seeds FOLDER\n");
    return 2;
  }
  const std::filesystem::path root = argv[1];
  for (const char* name : {"container", "chunk", "ring", "bundle"})
    std::filesystem::create_directories(root / name);
  MakeContainer(root / "container");
  MakeChunks(root / "chunk");
  MakeRing(root / "ring");
  MakeBundle(root / "bundle");
  return 0;
}
