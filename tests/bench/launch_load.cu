// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A steady load of kernel launches for tests/bench/launches.py: THREADS threads, each with a stream, together launch RATE thousand
// kernels a second for SECONDS. Prints launches=, seconds=, cpu_s= (of the launching threads only) and peak_bytes= of the process.
//
//   launch_load RATE SECONDS [THREADS]        RATE 0: as fast as it goes

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include <thread>
#include <vector>

namespace {

constexpr int kBatch = 64;

__global__ void Forward(int) {}
__global__ void Backward(int, int) {}
__global__ void Update(int, int, int) {}

struct Work {
  long launches = 0;
  double seconds = 0, cpu = 0;
};

double Clock(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void Check(cudaError_t result) {
  if (result == cudaSuccess) return;
  fprintf(stderr, "launch_load: %s\n", cudaGetErrorString(result));
  exit(1);
}

// A few kernels in turn, of a few sizes, as in the layers of a network.
void Batch(cudaStream_t stream) {
  for (int i = 0; i < kBatch; ++i) {
    const dim3 grid(1 + i % 8 * 16);
    if (i % 3 == 0) Forward<<<grid, 128, 0, stream>>>(i);
    if (i % 3 == 1) Backward<<<grid, 256, 0, stream>>>(i, i);
    if (i % 3 == 2) Update<<<grid, 256, 0, stream>>>(i, i, i);
  }
}

void Run(double rate, double seconds, Work* work) {
  cudaStream_t stream;
  Check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  const double start = Clock(CLOCK_MONOTONIC), cpu_start = Clock(CLOCK_THREAD_CPUTIME_ID);
  double now = start;
  while (now - start < seconds) {
    Batch(stream);
    work->launches += kBatch;
    now = Clock(CLOCK_MONOTONIC);
    if (rate == 0) continue;
    const double ahead = start + static_cast<double>(work->launches) / rate - now;
    if (ahead <= 0) continue;
    const timespec pause = {static_cast<time_t>(ahead), static_cast<long>((ahead - static_cast<time_t>(ahead)) * 1e9)};
    nanosleep(&pause, nullptr);
  }
  work->seconds = Clock(CLOCK_MONOTONIC) - start;
  work->cpu = Clock(CLOCK_THREAD_CPUTIME_ID) - cpu_start;
  Check(cudaGetLastError());
  Check(cudaStreamSynchronize(stream));
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 3 ? atoi(argv[3]) : 1;
  if (argc < 3 || threads < 1) {
    fprintf(stderr, "usage: launch_load RATE SECONDS [THREADS]\n");
    return 2;
  }
  const double rate = atof(argv[1]) * 1e3 / threads, seconds = atof(argv[2]);
  Check(cudaFree(nullptr));
  std::vector<Work> work(threads);
  std::vector<std::thread> others;
  for (int i = 1; i < threads; ++i) others.emplace_back(Run, rate, seconds, &work[i]);
  Run(rate, seconds, &work[0]);
  for (std::thread& other : others) other.join();
  Work all;
  for (const Work& one : work) {
    all.launches += one.launches;
    all.cpu += one.cpu;
    if (one.seconds > all.seconds) all.seconds = one.seconds;
  }
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  printf("launches=%ld\nseconds=%.6f\ncpu_s=%.6f\npeak_bytes=%ld\n", all.launches, all.seconds, all.cpu, usage.ru_maxrss * 1024);
  return 0;
}
