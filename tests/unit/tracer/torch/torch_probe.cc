// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The observer as a library that a Python test loads into a process with a real PyTorch: see
// torch_observer_test.py. A thread of its own plays the control thread.

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "tests/unit/tracer/torch/fake_host.h"
#include "tracer/torch/torch_library.h"
#include "tracer/torch/torch_observer.h"

namespace gpuprof::torch_test {
namespace {

// Runs what it is given, one at a time, on a thread that counts as gpuprof's.
class ControlThread {
 public:
  void Run(const std::function<void()>& work) {
    if (!thread_.joinable()) thread_ = std::thread([this] { Loop(); });
    std::unique_lock lock(mutex_);
    work_ = work;
    changed_.notify_all();
    changed_.wait(lock, [this] { return work_ == nullptr; });
  }
  // The child of a fork has no such thread.
  void Forget() { new (this) ControlThread; }

 private:
  void Loop() {
    AdoptThread();
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return work_ != nullptr; });
      work_();
      work_ = nullptr;
      changed_.notify_all();
    }
  }
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;
};

ControlThread& control = *new ControlThread;
std::string answer;

// Ops by "scope:name" with counts, one a line; then what else a test wants to know.
std::string Summary() {
  std::map<std::string, uint64_t> counts;
  uint64_t unnested = 0;
  std::map<uint32_t, std::vector<Op>> by_ring;
  for (const Op& op : TakeOps()) {
    ++counts[std::to_string(op.scope) + ":" + op.text];
    by_ring[op.ring].push_back(op);
  }
  // An op lies in the next one of smaller depth that ends after it.
  for (auto& [ring, ops] : by_ring) {
    std::vector<Op> parents(proto::kMaxOpenOps + 1);
    for (auto op = ops.rbegin(); op != ops.rend(); ++op) {
      parents[op->depth] = *op;
      if (op->start > op->end) ++unnested;
      if (op->depth == 0 || parents[op->depth - 1].end == 0) continue;
      const Op& parent = parents[op->depth - 1];
      // A parent that was open when recording ended has no record: then an older one stands here.
      if (parent.start > op->start && parent.start < op->end) ++unnested;
    }
  }
  std::string text;
  for (const auto& [name, count] : counts) text += name + "\t" + std::to_string(count) + "\n";
  const tracer::TorchCounters counters = tracer::ReadTorchCounters();
  text += "!unnested\t" + std::to_string(unnested) + "\n";
  text += "!dropped\t" + std::to_string(DroppedRecords()) + "\n";
  text += "!strings\t" + std::to_string(StringRecords()) + "\n";
  text += "!unpaired\t" + std::to_string(counters.unpaired) + "\n";
  text += "!async\t" + std::to_string(counters.async) + "\n";
  text += "!too_deep\t" + std::to_string(counters.too_deep) + "\n";
  text += "!names_lost\t" + std::to_string(counters.names_lost) + "\n";
  text += "!reporter\t" + std::to_string(ToldReporter() != nullptr) + "\n";
  return text;
}

}  // namespace
}  // namespace gpuprof::torch_test

#define PROBE extern "C" [[gnu::visibility("default")]]
namespace tt = gpuprof::torch_test;
namespace tr = gpuprof::tracer;

PROBE bool probe_attach(uint32_t records) {
  bool attached = false;
  tt::control.Run([&] { attached = tr::TorchTryAttach(tt::FakeHost(records)); });
  return attached;
}
PROBE void probe_detach() { tt::control.Run(tr::TorchDetach); }
PROBE void probe_record(bool on) { tt::SetRecording(on); }
PROBE const char* probe_state() { return tr::TorchState(); }
PROBE const char* probe_summary() {
  tt::answer = tt::Summary();
  return tt::answer.c_str();
}
PROBE void probe_before_fork() { tr::TorchBeforeFork(); }
PROBE void probe_after_fork_parent() { tr::TorchAfterForkParent(); }
PROBE void probe_after_fork_child() {
  tt::ForgetRings();
  tt::control.Forget();
  tr::TorchAfterForkChild();
}
// Depth and names of what is open on the calling thread, outermost first.
PROBE uint32_t probe_open_ops() { return tt::RingCount() == 0 ? 0 : tt::Ring(0)->open_ops.load(); }
PROBE uint32_t probe_version(const char* path) {
  const tr::TorchVersion version = tr::VersionBeside(path);
  return version.major * 1000 + version.minor;
}

// Observers that do nothing, to measure the framework's own part.
namespace {
struct Nothing {
  void* context = nullptr;
  ~Nothing() {}
};
Nothing EmptyBegin(const void*) { return {}; }
void EmptyEnd(const void*, void*) {}
struct Callback {
  Nothing (*begin)(const void*);
  void (*end)(const void*, void*);
  double probability;
  bool flags[13];
};
}  // namespace
PROBE uint64_t probe_add_empty(uint64_t (*add)(Callback)) {
  Callback callback = {EmptyBegin, EmptyEnd, 1.0, {}};
  std::fill(callback.flags, callback.flags + 10, true);
  return add(callback);
}
