// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See golden_traces.h.

#include "tests/golden/golden_traces.h"

#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis::test {
namespace {

constexpr uint32_t kPeriod = 512 * 1024;

// One training step: load, forward, backward, optimizer, a look at the loss. 100 ms and `wait`
// long.
int64_t AddStep(TrackBuilder& track, int64_t at, int64_t wait, uint32_t stack) {
  track.Loader(at, at + wait);
  at += wait;
  track.User("Optimizer.zero_grad#SGD.zero_grad", at, at + 2 * kMs);
  track.Op("aten::conv2d", at + 3 * kMs, at + 33 * kMs);
  track.Op("aten::convolution", at + 4 * kMs, at + 32 * kMs);
  track.Op("aten::mkldnn_convolution", at + 5 * kMs, at + 31 * kMs);
  track.Op("aten::relu", at + 34 * kMs, at + 38 * kMs);
  track.Tensor(at + 6 * kMs, 0x7000, 4 << 20);
  track.Tensor(at + 35 * kMs, 0x8000, 1 << 20);
  track.Alloc(at + 6 * kMs, 0x7000, 4 << 20, stack, true);
  track.Op("autograd::engine::evaluate_function: ReluBackward0", at + 40 * kMs, at + 45 * kMs);
  track.Op("autograd::engine::evaluate_function: ConvolutionBackward0", at + 46 * kMs,
           at + 80 * kMs);
  track.Backward("ConvolutionBackward0", at + 47 * kMs, at + 79 * kMs);
  track.Op("aten::convolution_backward", at + 47 * kMs, at + 79 * kMs);
  track.Tensor(at + 80 * kMs, 0x7000, -(4 << 20));
  track.Free(at + 80 * kMs, 0x7000, true);
  track.Wait(proto::WaitKind::kMutex, 0x5555000, 0x401200, at + 81 * kMs, at + 84 * kMs);
  track.Optimizer(at + 84 * kMs, at + 94 * kMs);
  track.Op("aten::_foreach_add_", at + 85 * kMs, at + 93 * kMs);
  track.Op("aten::item", at + 95 * kMs, at + 96 * kMs);
  track.Tensor(at + 97 * kMs, 0x8000, -(1 << 20));
  return at + 100 * kMs;
}

Process TrainingProcess() {
  ProcessBuilder builder(100, 1);
  Process& process = builder.process();
  process.heap_mode = 1;
  process.heap_period = kPeriod;
  process.frameworks = {"torch 2.13.0+cpu"};
  process.memory_bytes = uint64_t{16} << 30;
  process.environment = {{"OMP_NUM_THREADS", "1"}};
  process.health.set_drain_cpu_ns(8 * kMs);
  process.health.set_control_cpu_ns(kMs);
  process.health.set_process_cpu_ns(1500 * kMs);
  process.health.set_stack_samples(20);
  process.health.set_stack_ns(200 * kUs);
  process.health.set_op_events(150);
  process.health.set_op_callback_ns(150);
  const uint32_t weights = builder.Stack({0x401000, 0x401100, 0x401300});
  const uint32_t images = builder.Stack({0x401000, 0x401140, 0x401300});
  TrackBuilder& track = builder.Thread(100, "python3");
  track.Alloc(5 * kMs, 0x1000, 24 << 20, weights, true);
  track.Sample(0, 0).Sample(2000 * kMs, 1500 * kMs, 40 * kMs);
  int64_t at = 50 * kMs;
  for (int epoch = 0; epoch < 2; ++epoch) {
    at = AddStep(track, at, (epoch == 0 ? 400 : 60) * kMs, images);
    for (int i = 0; i < 5; ++i) at = AddStep(track, at, (20 + 3 * i) * kMs, images);
    track.Loader(at, at + kMs);
    at += 5 * kMs;
  }
  builder.Thread(110, "pt_autograd").Event(70 * kMs, proto::ThreadEvent::kStart, 0x402000, 100);
  builder.Thread(110).Wait(proto::WaitKind::kMutex, 0x5555000, 0x401200, 900 * kMs, 905 * kMs);
  builder.Thread(110).Wait(proto::WaitKind::kCondition, 0x5556000, 0x401240, 80 * kMs, 880 * kMs);
  builder.Thread(120, "gpuprof-drain").Tool().Sample(0, 0).Sample(2000 * kMs, 8 * kMs);
  return builder.Build();
}

Process WorkerProcess(int32_t pid, int64_t cpu) {
  ProcessBuilder builder(pid, 100);
  Process& process = builder.process();
  process.heap_mode = 1;
  process.heap_period = kPeriod;
  process.exit_way = static_cast<uint32_t>(proto::ExitWay::kUnderscore);
  const uint32_t decode = builder.Stack({0x401000, 0x403000});
  TrackBuilder& track = builder.Thread(pid, "pt_data_worker");
  track.Sample(60 * kMs, 0).Sample(1900 * kMs, cpu, 20 * kMs);
  for (int i = 0; i < 6; ++i) {
    const int64_t at = (60 + 300 * i) * kMs;
    track.Op("aten::_upsample_bilinear2d_aa", at, at + 120 * kMs);
    track.Alloc(at + 10 * kMs, 0x9000, 2 << 20, decode, true).Free(at + 18 * kMs, 0x9000, true);
  }
  return builder.Build();
}

GoldenTrace Training() {
  Trace trace;
  trace.path = "training";
  trace.origin_realtime_ns = 1'700'000'000'000'000'000;
  trace.has_manifest = true;
  for (const char* word : {"python3", "train.py", "--epochs", "2"})
    trace.manifest.add_command(word);
  trace.manifest.set_kernel("Linux 6.1.0");
  trace.manifest.set_cpu_model("Example CPU");
  trace.manifest.set_started_realtime_ns(1'000'000'000);
  trace.manifest.set_ended_realtime_ns(3'400'000'000);
  trace.processes.push_back(TrainingProcess());
  trace.processes.push_back(WorkerProcess(101, 1750 * kMs));
  trace.processes.push_back(WorkerProcess(102, 1700 * kMs));
  return {"training", std::move(trace)};
}

GoldenTrace Server() {
  ProcessBuilder builder(7, 1);
  Process& process = builder.process();
  process.executable = "/opt/server/bin/server";
  process.argv = {"server", "--port", "80"};
  process.heap_mode = 2;
  process.alive = true;
  const uint32_t request = builder.Stack({0x1010, 0x1020});
  const uint32_t cache = builder.Stack({0x1010, 0x1030, 0x1040});
  TrackBuilder& main = builder.Thread(7, "server");
  main.Sample(0, 0).Sample(400 * kMs, 30 * kMs, kMs);
  for (int i = 0; i < 20; ++i) {
    const auto address = 0x10000 + static_cast<uint64_t>(i) * 0x1000;
    const int64_t at = i * 20 * kMs;
    main.Alloc(at, address, 3000, request).Alloc(at + kMs, 0x50, 64, request);
    main.Free(at + 3 * kMs, 0x50).Alloc(at + 4 * kMs, address + 0x800, 128, cache);
    if (i % 4 != 0) main.Free(at + 5 * kMs, address);
  }
  main.Free(390 * kMs, 0x999000);
  main.FileRead(builder.Id("/opt/server/etc/server.conf"), 812, 2 * kMs, 2 * kMs + 90 * kUs);
  for (int32_t i = 0; i < 2; ++i) {
    TrackBuilder& worker = builder.Thread(8 + i, "worker-" + std::to_string(i));
    worker.Event((10 + i) * kMs, proto::ThreadEvent::kStart, 0x2000, 7);
    worker.Wait(proto::WaitKind::kRwlockWrite, 0x6000, 0x1050, (20 + 10 * i) * kMs, (45 + i) * kMs);
    worker.Wait(proto::WaitKind::kMutex, 0x6100, 0x1060, 60 * kMs, (61 + i) * kMs);
    worker.Wait(proto::WaitKind::kCondition, 0x6200, 0x1070, 100 * kMs, 300 * kMs,
                proto::kFlagTimedOut);
    for (int j = 0; j < 3; ++j) {
      const int64_t at = (70 + 5 * j + i) * kMs;
      worker.FileRead(builder.Id("/srv/www/index.html"), 65536, at, at + (200 + 50 * j) * kUs);
    }
    worker.FileRead(builder.Id("/srv/www/img/logo.png"), i == 0 ? 5000 : -5, 90 * kMs, 92 * kMs);
  }
  builder.Thread(8).Event(350 * kMs, proto::ThreadEvent::kExit).Sample(350 * kMs, 12 * kMs);
  builder.Thread(9).Wait(proto::WaitKind::kMutex, 0x6100, 0x1060, 320 * kMs, 400 * kMs,
                         proto::kFlagIncomplete);
  Trace trace = MakeTrace({&builder});
  trace.path = "server";
  return {"server", std::move(trace)};
}

GoldenTrace Damaged() {
  ProcessBuilder builder(55, 1);
  Process& process = builder.process();
  process.exit_way = static_cast<uint32_t>(proto::ExitWay::kUnknown);
  process.recovered = true;
  process.exit_status = 128 + 9;
  auto* loss = process.health.add_loss();
  loss->set_kind(proto::LOSS_RING_FULL);
  loss->set_count(123);
  auto* note = process.health.add_note();
  note->set_source("disk");
  note->set_text("no space was left for 2 s");
  TrackBuilder& track = builder.Thread(55, "python3");
  for (int i = 0; i < 2; ++i) {
    const int64_t at = i * 50 * kMs;
    track.Loader(at, at + 5 * kMs).Backward("AddBackward0", at + 10 * kMs, at + 30 * kMs);
    track.Optimizer(at + 30 * kMs, at + 45 * kMs);
  }
  track.Loader(100 * kMs, 105 * kMs);
  track.Op("aten::conv2d", 106 * kMs, 120 * kMs, proto::OpScope::kFunction, proto::kFlagIncomplete);
  track.Op("aten::convolution", 107 * kMs, 120 * kMs, proto::OpScope::kFunction,
           proto::kFlagIncomplete);
  Trace trace = MakeTrace({&builder});
  trace.path = "damaged";
  trace.faults.push_back({"p55-1.gpt", 4096, "the file ends within a block"});
  return {"damaged", std::move(trace)};
}

// Blocks of three kinds, one from before the recording, and a pool that is trimmed.
void AddMemory(ProcessBuilder* builder, TrackBuilder* main, TrackBuilder* side) {
  constexpr uint64_t kPool = 0x7f1100000000;
  constexpr uint64_t kMiB = 1 << 20;
  TrackBuilder& context = builder->Stream(0, 1, kNoCudaId);
  main->Call("cudaMalloc_v3020", 1 * kMs, 1 * kMs + 400 * kUs, 80);
  context.Allocate(1 * kMs, 0x7f0000000000, 256 * kMiB, 80);
  main->Call("cudaMallocHost_v3020", 2 * kMs, 2 * kMs + 900 * kUs, 81);
  context.Allocate(2 * kMs, 0x7f3000000000, 64 * kMiB, 81, 2);
  main->Call("cudaMalloc_v3020", 3 * kMs, 3 * kMs + 100 * kUs, 82);
  context.Allocate(3 * kMs, 0x7f0010000000, 4 * kMiB, 82);
  context.Release(5 * kMs, 0x7f00a0000000, 512 * kMiB);
  main->Call("cudaFree_v3020", 60 * kMs, 60 * kMs + 50 * kUs, 83);
  context.Release(60 * kMs, 0x7f0010000000, 4 * kMiB, 83);
  side->Allocate(7 * kMs, 0x7f1100000000, 20 * kMiB, 84, 3, kPool);
  side->Allocate(8 * kMs, 0x7f1108000000, 6 * kMiB, 85, 3, kPool);
  side->Release(9 * kMs, 0x7f1100000000, 20 * kMiB, 86, 3, kPool);
  TrackBuilder& device = builder->Stream(0, kNoCudaId, kNoCudaId);
  main->Overhead(6, 500 * kUs, 2 * kMs).Overhead(6, 3 * kMs, 3 * kMs + 200 * kUs);
  main->Overhead(0x13, 4 * kMs, 44 * kMs, 81920).Overhead(77, 45 * kMs, 45 * kMs + 5 * kUs);
  device.Overhead(2, 70 * kMs, 70 * kMs + 300 * kUs);
  device.Pool(proto::kPoolCreated, 6 * kMs, kPool, 0, 0);
  device.Pool(proto::kPoolSeen, 7 * kMs, kPool, 32 * kMiB, 20 * kMiB);
  device.Pool(proto::kPoolSeen, 8 * kMs, kPool, 32 * kMiB, 26 * kMiB, 16 * kMiB);
  device.Pool(proto::kPoolSeen, 9 * kMs, kPool, 32 * kMiB, 6 * kMiB, 16 * kMiB);
  device.Pool(proto::kPoolTrimmed, 62 * kMs, kPool, 8 * kMiB, 6 * kMiB, 16 * kMiB);
  proto::Device* described = &builder->process().devices.emplace_back();
  described->set_name("Example GPU");
  described->set_memory_bytes(uint64_t{80} << 30);
  described->set_buffer_bytes_per_context(9'600'000);
}

proto::Counter Counter(uint32_t id, const char* name, const char* unit, uint32_t divisor,
                       const char* source, int32_t pid = 0) {
  proto::Counter counter;
  counter.set_id(id);
  counter.set_name(name);
  counter.set_unit(unit);
  counter.set_divisor(divisor);
  counter.set_source(source);
  counter.set_pid(pid);
  return counter;
}

// On a track of its own, every 2 ms; the first value stands for as long as the second.
void AddPmSamples(Process* sampler) {
  constexpr uint32_t kTrack = 0x10002, kSmActive = 200, kTensorActive = 201;
  sampler->counters[kSmActive] = Counter(kSmActive, "sm_active", "%", 1000, "pm");
  sampler->counters[kTensorActive] = Counter(kTensorActive, "tensor_active", "%", 1000, "pm");
  proto::SampledDevice& device = sampler->sampled_devices[kTrack];
  device = sampler->sampled_devices[2];
  device.set_track(kTrack);
  device.set_has_gpm(false);
  device.set_is_pm(true);
  Track& track = sampler->tracks.emplace_back();
  track.id = kTrack;
  for (int i = 0; i < 5; ++i) {
    for (const uint32_t counter : {kSmActive, kTensorActive}) {
      if (counter == kTensorActive && i == 2) continue;  // was no number
      track.counter.time_ns.push_back(10 * kMs + i * 2 * kMs);
      track.counter.counter.push_back(counter);
      track.counter.value.push_back(counter == kSmActive ? 20'000 * i : 99'500 - 1500 * i);
      ++sampler->rows;
    }
  }
  proto::Loss* loss = sampler->health.add_loss();
  loss->set_kind(proto::LOSS_COUNTER_SAMPLE);
  loss->set_count(12);
}

// Two GPUs, each read every 20 ms with one pause of 40; the one without GPM is not the program's.
Process Sampler() {
  Process sampler;
  sampler.is_sampler = true;
  sampler.file = "gpu-30-5.gpt";
  sampler.pid = 30;
  sampler.file_bytes = 700;
  for (const proto::Counter& counter :
       {Counter(1, "gpu_utilization", "%", 1, "nvml"),
        Counter(3, "memory_used", "bytes", 1, "nvml"), Counter(5, "power", "W", 1000, "nvml"),
        Counter(9, "clocks_event_reasons", "mask", 1, "nvml"),
        Counter(105, "tensor_active", "%", 1000, "gpm"),
        Counter(65536, "process_memory_used", "bytes", 1, "nvml", 31)})
    sampler.counters[counter.id()] = counter;
  constexpr int64_t kTimes[] = {0, 20 * kMs, 40 * kMs, 80 * kMs};
  for (uint32_t index = 0; index < 2; ++index) {
    proto::SampledDevice& device = sampler.sampled_devices[index + 1];
    device.set_track(index + 1);
    device.set_index(index);
    device.set_name("Example GPU");
    device.set_uuid(index == 0 ? "GPU-f0f0f0f0-f0f0-f0f0-f0f0-f0f0f0f0f0f0"
                               : "GPU-f1f1f1f1-f1f1-f1f1-f1f1-f1f1f1f1f1f1");
    device.set_has_gpm(index == 1);
    Track& track = sampler.tracks.emplace_back();
    track.id = index + 1;
    CounterTable& table = track.counter;
    const auto add = [&](int64_t time, uint32_t counter, int64_t value) {
      table.time_ns.push_back(time);
      table.counter.push_back(counter);
      table.value.push_back(value);
      ++sampler.rows;
    };
    for (int i = 0; i < 4; ++i) {
      add(kTimes[i], 1, index == 0 ? 0 : 25 * i);
      add(kTimes[i], 3, (index == 0 ? 1 : 8 * (i + 1)) * int64_t{1} << 30);
      add(kTimes[i], 5, index == 0 ? 70'000 : 100'500 * (i + 1));
      add(kTimes[i], 9, index == 0 ? 1 : i == 3 ? 0x24 : 4 * (i / 2));
      if (index == 1 && i != 0) add(kTimes[i], 105, 12'500 * i);
      if (index == 1 && i == 3) add(kTimes[i], 65536, int64_t{30} << 30);
    }
  }
  AddPmSamples(&sampler);
  proto::Note* note = sampler.health.add_note();
  note->set_source("gpu counters");
  note->set_text("GPU 0 (Example GPU) does not offer: SM, tensor and DRAM activity");
  return sampler;
}

// Two streams of one device that overlap, another device, a graph, and a kernel whose launch was
// before the recording.
GoldenTrace Gpu() {
  ProcessBuilder builder(31, 1);
  builder.process().executable = "/opt/bin/solver";
  builder.process().argv = {"solver"};
  const uint32_t add = builder.Signature("_Z9VectorAddPKfS0_Pfi", 4096, 256);
  const uint32_t small = builder.Signature("_Z9VectorAddPKfS0_Pfi", 8, 256);
  const uint32_t norm = builder.Signature("norm_kernel", 1, 1024);
  TrackBuilder& main = builder.Thread(31, "solver");
  TrackBuilder& compute = builder.Stream(0, 1, 7);
  TrackBuilder& side = builder.Stream(0, 1, 13);
  side.Kernel(norm, 2 * kMs, 3 * kMs);
  main.Call("cudaMemcpyAsync_v3020", 4 * kMs, 4 * kMs + 9 * kUs, 90);
  compute.Copy(1, 2, 3, 64 << 20, 5 * kMs, 8 * kMs, 90, 1);
  compute.Set(1 << 20, 8 * kMs, 8 * kMs + 50 * kUs, 91);
  side.Copy(2, 3, 1, 4096, 70 * kMs, 70 * kMs + 4 * kUs, 92);
  main.Call("cudaStreamSynchronize_v3020", 42 * kMs, 46 * kMs, 93);
  compute.Sync(3, 42 * kMs, 46 * kMs, 93);
  builder.Stream(kNoCudaId, kNoCudaId, kNoCudaId)
      .UnifiedMemory(3, 0x401000, 0x7f0000200000, 4 * kMs, 4 * kMs)
      .UnifiedMemory(4, 12, 0x7f0000200000, 10 * kMs, 10 * kMs + 30 * kUs, 0, 0, 1)
      .UnifiedMemory(1, 2 << 20, 0x7f0000200000, 11 * kMs, 11 * kMs + 200 * kUs, 0, 0, 2)
      .UnifiedMemory(2, 64 << 10, 0x7f0000200000, 20 * kMs, 20 * kMs + 9 * kUs, 0, 0, 1)
      .UnifiedMemory(5, 64 << 10, 0x7f0000210000, 21 * kMs, 21 * kMs, 3);
  compute.Recorded(41 * kMs, 5, 96, 61);
  side.Sync(2, 50 * kMs, 50 * kMs + kUs, 94, 5, 61).Sync(2, 51 * kMs, 51 * kMs + kUs, 97, 6, 60);
  main.Call("cudaMalloc_v3020", 80 * kMs, 81 * kMs, 95, 2);
  AddMemory(&builder, &main, &side);
  for (uint32_t i = 0; i < 4; ++i) {
    const int64_t at = (10 + 10 * i) * kMs;
    main.Call("cudaLaunchKernel_v7000", at, at + 6 * kUs, 100 + i);
    compute.Kernel(add, at + kMs, at + 5 * kMs, 100 + i);
    main.Range("solver", "assemble", at, at + 2 * kMs, 1);
    main.Range("solver", "iteration", at - kMs, at + 8 * kMs);
    side.Kernel(small, at + 4 * kMs, at + 7 * kMs, 200, 9);
  }
  builder.Stream(1, 2, 7).Kernel(add, 60 * kMs, 70 * kMs, 300);
  main.Range("", "checkpoint", 55 * kMs, 55 * kMs, 0, proto::RangeKind::kMark);
  main.Range("", "transfer", 5 * kMs, 56 * kMs, 0, proto::RangeKind::kStartEnd, 32);
  main.Range("", "run", 1 * kMs, 75 * kMs, 0, proto::RangeKind::kPushPop, 0,
             proto::kFlagIncomplete);
  // Its device 0 is the machine's GPU 1.
  proto::Device device;
  device.set_id(0);
  device.set_uuid(std::string(16, '\xf1'));
  builder.process().devices.push_back(device);
  Trace trace = MakeTrace({&builder});
  trace.samplers.push_back(Sampler());
  trace.path = "gpu";
  return {"gpu", std::move(trace)};
}

// Graph 2, made of graph 1 in the capture: by nodes three times, of which the first call uploads
// it, and twice as a whole. Graph 9 is older than the capture, and of graph 12 nothing is known.
GoldenTrace GraphLaunches() {
  ProcessBuilder builder(61, 1);
  Process& process = builder.process();
  process.executable = "/opt/bin/decoder";
  process.argv = {"decoder"};
  Graphs& graphs = process.graphs;
  graphs.made = {{1, {}}, {2, {1, true, false}}, {9, {0, true, true}}};
  for (const uint64_t node : {11, 12, 13, 14}) {
    const uint32_t type = node == 11 ? 1 : node == 14 ? 2 : 0;  // a copy, two kernels, a set
    graphs.nodes[node] = {0, 1, 0, type};
    graphs.nodes[node + 10] = {node, 2, 1, type};
  }
  graphs.marks = {{1, 0, proto::GraphMode::kNode, 0}, {1, 35 * kMs, proto::GraphMode::kWhole, 14}};
  const uint32_t matmul = builder.Signature("_Z6matmulPKfS0_Pfi", 512, 128);
  const uint32_t norm = builder.Signature("norm_kernel", 16, 256);
  TrackBuilder& main = builder.Thread(61, "decoder");
  TrackBuilder& stream = builder.Stream(0, 1, 7);
  TrackBuilder& side = builder.Stream(0, 1, 13);
  for (uint32_t i = 0; i < 5; ++i) {
    const int64_t at = (10 + 10 * i) * kMs;
    main.Call("cudaGraphLaunch_v10000", at, at + (i == 0 ? 900 : 12 + i) * kUs, 100 + i);
    if (i > 2) {
      stream.WholeGraph(2, at + kMs, at + 5 * kMs, 100 + i);
      continue;
    }
    stream.Copy(1, 2, 3, 4096, at + kMs, at + kMs + 8 * kUs, 100 + i, 1, 2, 21);
    stream.Kernel(matmul, at + kMs + 10 * kUs, at + 3 * kMs, 100 + i, 2, 22);
    side.Set(128, at + kMs + 10 * kUs, at + kMs + 30 * kUs, 100 + i, 2, 24);
    stream.Kernel(norm, at + 3 * kMs + 500 * kUs, at + 4 * kMs, 100 + i, 2, 23);
  }
  side.Kernel(norm, 70 * kMs, 71 * kMs, 200, 9, 91);
  side.Kernel(norm, 72 * kMs, 73 * kMs, 201, 9, 91);
  main.Call("cudaGraphLaunch_v10000", 75 * kMs, 75 * kMs + 20 * kUs, 202);
  side.WholeGraph(12, 76 * kMs, 78 * kMs, 202);
  Trace trace = MakeTrace({&builder});
  trace.path = "graphs";
  return {"graphs", std::move(trace)};
}

// Two seconds of a service of Python: a handler is busy, a worker waits for its lock and for a
// database, a pool waits for work.
GoldenTrace Service() {
  ProcessBuilder builder(30, 1);
  Process& process = builder.process();
  process.argv = {"python3", "serve.py", "--port", "80"};
  process.sources = proto::kDefaultSources;
  process.modules.emplace_back().set_path("/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0");
  builder.Capture(0, 2000 * kMs);
  const auto stack = [&](const std::vector<std::string>& names) {
    std::vector<uint64_t> pcs;
    for (size_t i = names.size(); i-- > 0;) pcs.push_back(NamedFrame(builder.Id(names[i])));
    return builder.Stack(pcs);
  };
  const std::string app = "/opt/service/app/", library = "/usr/lib/python3.11/";
  const std::string main = app + "serve.py(88): main",
                    handle = app + "serve.py(41): Handler.handle";
  const uint32_t scores = stack({main, handle, app + "score.py(17): Model.score"});
  const uint32_t later = stack({main, handle, app + "score.py(19): Model.score"});
  const uint32_t json = stack({main, handle, library + "json/encoder.py(202): JSONEncoder.encode"});
  const uint32_t loads = stack({app + "store.py(30): refresh", app + "store.py(12): Store.load"});
  const uint32_t reads = stack({app + "store.py(30): refresh", app + "store.py(14): Store.load",
                                library + "socket.py(706): SocketIO.readinto"});
  const uint32_t rests =
      stack({library + "threading.py(975): Thread.run", library + "queue.py(171): Queue.get",
             library + "threading.py(327): Condition.wait"});
  constexpr uint32_t kPython = proto::kSamplePython, kRuns = kPython | proto::kSampleRuns;
  builder.Thread(30, "MainThread").Sample(0, 0).Sample(2000 * kMs, 1900 * kMs);
  TrackBuilder& store = builder.Thread(32, "store");
  store.Sample(0, 0).Sample(2000 * kMs, 300 * kMs);
  builder.Thread(33, "pool");
  TrackBuilder& sampler = builder.Thread(31, "gpuprof-sample").Tool();
  for (int i = 0; i < 20; ++i) {
    const int64_t at = i * 100 * kMs;
    sampler.StackSample(30, scores, at, at + 40 * kMs, kRuns | proto::kSampleHasGil);
    sampler.StackSample(32, loads, at, at + 20 * kMs, kPython | proto::kSampleWaitsForGil, 30);
    sampler.StackSample(32, loads, at + 20 * kMs, at + 35 * kMs, kRuns);
    sampler.StackSample(30, later, at + 40 * kMs, at + 60 * kMs, kRuns | proto::kSampleHasGil);
    sampler.StackSample(30, json, at + 60 * kMs, at + 95 * kMs, kRuns | proto::kSampleHasGil);
    sampler.StackSample(30, 0, at + 95 * kMs, at + 100 * kMs, proto::kSampleRuns);
    sampler.StackSample(32, reads, at + 35 * kMs, at + 100 * kMs, kPython);
    store.Wait(proto::WaitKind::kInput, 5, 0x401200, at + 35 * kMs, at + 100 * kMs);
  }
  sampler.StackSample(33, rests, 0, 2000 * kMs, kPython);
  Trace trace = MakeTrace({&builder});
  trace.path = "service";
  return {"service", std::move(trace)};
}

}  // namespace

std::vector<GoldenTrace> MakeGoldenTraces() {
  std::vector<GoldenTrace> traces;
  traces.push_back(Training());
  traces.push_back(Server());
  traces.push_back(Damaged());
  traces.push_back(Gpu());
  traces.push_back(GraphLaunches());
  traces.push_back(Service());
  return traces;
}

}  // namespace gpuprof::analysis::test
