// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Makes a big XSpace that is shaped like one of TensorFlow's profiler on a GPU:
// make_xspace MEGABYTES FILE. Half of the bytes are operations of six threads of the host, which
// lie in each other and have stats; the other half are launches with the kernels that they
// launched, in four streams. All rows are made up.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace gpuprof {
namespace {

constexpr uint64_t kWallNs = 1'700'000'000'000'000'000;
constexpr uint32_t kThreads = 6, kStreams = 4, kOps = 400, kKernels = 300;
constexpr uint64_t kOpsOfAStep = 2000;

void PutVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}
void PutNumber(uint32_t field, uint64_t value, std::string* out) {
  PutVarint(field << 3, out);
  PutVarint(value, out);
}
void PutBytes(uint32_t field, std::string_view bytes, std::string* out) {
  PutVarint(field << 3 | 2, out);
  PutVarint(bytes.size(), out);
  out->append(bytes);
}

// Ids of stats in both planes.
enum Stat : uint64_t {
  kGroup = 1,
  kCorrelation,
  kStepNumber,
  kLongName,
  kShape,
  kKernelDetails,
  kHloOp,
  kHloModule,
  kTfOp,
  kContext,
  kOccupancy,
  kFirstText = 100,  // names of stats that others refer to
};

constexpr const char* kStatNames[] = {"",           "group_id", "correlation_id", "step_num",
                                      "long_name",  "shape",    "kernel_details", "hlo_op",
                                      "hlo_module", "tf_op",    "context_id",     "occupancy_pct"};

// The fields of an XStat: 1 metadata_id, 3 uint64, 4 int64, 5 text, 7 reference.
void PutStat(Stat stat, uint32_t field, uint64_t value, std::string* event) {
  std::string message;
  PutNumber(1, stat, &message);
  PutNumber(field, value, &message);
  PutBytes(4, message, event);
}

// The fields of an XEvent: 1 metadata_id, 2 offset_ps, 3 duration_ps, 4 stats.
std::string Event(uint64_t metadata, uint64_t offset_ns, uint64_t duration_ns) {
  std::string event;
  PutNumber(1, metadata, &event);
  PutNumber(2, offset_ns * 1000, &event);
  PutNumber(3, duration_ns * 1000, &event);
  return event;
}

// The fields of an XLine: 1 id, 2 name, 3 timestamp_ns, 4 events.
struct Line {
  Line(uint64_t id, const std::string& name) {
    PutNumber(1, id, &bytes);
    PutBytes(2, name, &bytes);
    PutNumber(3, kWallNs, &bytes);
  }
  void Add(const std::string& event) { PutBytes(4, event, &bytes); }
  std::string bytes;
};

// The fields of an XPlane: 1 id, 2 name, 3 lines, 4 metadata of events, 5 metadata of stats.
void PutEntry(uint32_t field, uint64_t id, const std::string& name, std::string* plane) {
  std::string metadata, entry;
  PutNumber(1, id, &metadata);
  PutBytes(2, name, &metadata);
  PutNumber(1, id, &entry);
  PutBytes(2, metadata, &entry);
  PutBytes(field, entry, plane);
}

std::string Plane(uint64_t id, const std::string& name, const std::vector<Line>& lines,
                  const std::vector<std::string>& events, const std::vector<std::string>& texts) {
  std::string plane;
  PutNumber(1, id, &plane);
  PutBytes(2, name, &plane);
  for (const Line& line : lines) PutBytes(3, line.bytes, &plane);
  for (size_t i = 0; i < events.size(); ++i) PutEntry(4, i + 1, events[i], &plane);
  for (size_t i = 1; i < std::size(kStatNames); ++i) PutEntry(5, i, kStatNames[i], &plane);
  for (size_t i = 0; i < texts.size(); ++i) PutEntry(5, kFirstText + i, texts[i], &plane);
  return plane;
}

class Maker {
 public:
  Maker() {
    for (uint32_t i = 0; i < kThreads; ++i)
      threads_.emplace_back(1000 + i, "tf_Compute/" + std::to_string(1000 + i));
    for (uint32_t i = 0; i < kStreams; ++i)
      streams_.emplace_back(7 + i, "Stream #" + std::to_string(7 + i) + "(Kernel)");
    for (uint32_t i = 0; i < kOps; ++i)
      ops_.push_back("model/layer_" + std::to_string(i) + "/MatMul:MatMul");
    ops_.push_back("cudaLaunchKernel");  // kOps + 1
    ops_.push_back("train");             // kOps + 2
    for (uint32_t i = 0; i < kKernels; ++i)
      kernels_.push_back("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_" + std::to_string(i) +
                         ">(cutlass_80_tensorop_s1688gemm::Params)");
    for (uint32_t i = 0; i < kKernels; ++i)
      details_.push_back(
          "regs:32 static_shared:0 dynamic_shared:" + std::to_string(1024 * (i % 8)) +
          " grid:" + std::to_string(64 + i) + ",1,1 block:256,1,1 occ_pct:50");
    for (uint32_t i = 0; i < kOps; ++i) details_.push_back(ops_[i]);
  }

  void Make(uint64_t bytes) {
    while (Bytes() < bytes) Step();
  }

  void Write(const char* path) const {
    std::string space;
    PutBytes(1, Plane(1, "/host:CPU", threads_, ops_, details_), &space);
    PutBytes(1, Plane(2, "/device:GPU:0", streams_, kernels_, details_), &space);
    PutBytes(4, "host", &space);
    std::FILE* file = std::fopen(path, "wb");
    if (file == nullptr || std::fwrite(space.data(), 1, space.size(), file) != space.size() ||
        std::fclose(file) != 0) {
      std::fprintf(stderr, "make_xspace: cannot write %s\n", path);
      std::exit(1);
    }
  }

 private:
  uint64_t Bytes() const {
    uint64_t bytes = 0;
    for (const Line& line : threads_) bytes += line.bytes.size();
    for (const Line& line : streams_) bytes += line.bytes.size();
    return bytes;
  }

  // A layer is an operation that holds three others, of which one launches a kernel.
  void Step() {
    const uint64_t start = now_;
    for (uint64_t i = 0; i < kOpsOfAStep; ++i) {
      Line& thread = threads_[i % kThreads];
      const uint64_t op = (step_ + i) % kOps, length = 2'000 + random_() % 400;
      for (uint64_t inner = 0; inner < 3; ++inner) {
        const uint64_t at = now_ + 100 + inner * length;
        std::string event = Event(1 + (op + 1 + inner) % kOps, at, length - 50);
        PutStat(kGroup, 4, step_, &event);
        PutStat(kLongName, 7, kFirstText + kKernels + op, &event);
        if (inner == 1) PutStat(kShape, 7, kFirstText + kKernels + (op + 7) % kOps, &event);
        thread.Add(event);
      }
      Launch(&thread, op, now_ + 200, step_);
      std::string event = Event(1 + op, now_, 3 * length + 200);
      PutStat(kGroup, 4, step_, &event);
      thread.Add(event);
      now_ += (3 * length + 200) / kThreads + 50;
    }
    now_ += 30'000;
    std::string event = Event(kOps + 2, start, now_ - start - 1'000);
    PutStat(kStepNumber, 4, step_, &event);
    PutStat(kGroup, 4, step_, &event);
    threads_[0].Add(event);
    ++step_;
  }

  void Launch(Line* thread, uint64_t op, uint64_t at, uint64_t step) {
    const uint64_t correlation = ++correlation_;
    std::string call = Event(kOps + 1, at, 700);
    PutStat(kCorrelation, 4, correlation, &call);
    PutStat(kContext, 4, 1, &call);
    PutStat(kGroup, 4, step, &call);
    thread->Add(call);
    const uint64_t stream = correlation % 16 == 0 ? 1 + correlation / 16 % 3 : 0;
    const uint64_t kernel = op % kKernels, length = 800 + 2 * kernel + random_() % 64;
    free_at_[stream] = std::max(free_at_[stream] + 200, at + 1'500);
    std::string work = Event(1 + kernel, free_at_[stream], length);
    free_at_[stream] += length;
    PutStat(kCorrelation, 4, correlation, &work);
    PutStat(kContext, 4, 1, &work);
    PutStat(kKernelDetails, 7, kFirstText + kernel, &work);
    PutStat(kTfOp, 7, kFirstText + kKernels + op, &work);
    PutStat(kOccupancy, 3, 50, &work);
    PutStat(kGroup, 4, step, &work);
    streams_[stream].Add(work);
  }

  std::vector<Line> threads_, streams_;
  std::vector<std::string> ops_, kernels_, details_;
  uint64_t free_at_[kStreams] = {};
  std::mt19937_64 random_{1};
  uint64_t now_ = 1'000'000, step_ = 1, correlation_ = 0;
};

int Main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: make_xspace MEGABYTES FILE\n");
    return 2;
  }
  Maker maker;
  maker.Make(std::strtoull(argv[1], nullptr, 10) * 1'000'000);
  maker.Write(argv[2]);
  return 0;
}

}  // namespace
}  // namespace gpuprof

int main(int argc, char** argv) { return gpuprof::Main(argc, argv); }
