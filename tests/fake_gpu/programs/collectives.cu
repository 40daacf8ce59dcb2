// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A rank of a job whose collectives run on a double of NCCL: argv[1] is the newest version of the
// profiler interface that it knows, argv[2] the number of steps, argv[3] a file by which the ranks
// meet. RANK and WORLD_SIZE say who it is. argv[4]: cudaProfilerStart comes before this step (-1).
// All ranks are one communicator, and each two neighbours another one. A step:
//   all: AllReduce of 1,000 floats; AllGather of 500 bfloat16; two ReduceScatter in one kernel
//   neighbours: AllReduce of 64 bytes; the even rank sends 2,000 floats to the odd one
// At the end a graph with an AllReduce of all runs twice.

#include <cuda_profiler_api.h>

#include "../nccl/nccl.cuh"

int main(int argc, char** argv) {
  const int version = argc > 1 ? atoi(argv[1]) : 6;
  const int steps = argc > 2 ? atoi(argv[2]) : 4;
  const int begin = argc > 4 ? atoi(argv[4]) : -1;
  const int rank = atoi(getenv("RANK")), ranks = atoi(getenv("WORLD_SIZE"));
  nccl::Meeting meeting(argc > 3 ? argv[3] : "meeting", ranks);
  cudaStream_t stream;
  CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  nccl::LoadPlugin(version);
  nccl::Comm all, pair;
  all.hash = 0xa11;
  all.name = "everybody";
  all.nodes = 2;
  all.ranks = ranks;
  all.rank = rank;
  pair.hash = 0x9a000 + static_cast<uint64_t>(rank / 2);
  pair.ranks = 2;
  pair.rank = rank % 2;
  nccl::Init(&all);
  nccl::Init(&pair);
  const auto launch = [&](nccl::Comm* comm, const std::vector<nccl::Task>& tasks, nccl::Kernel kernel) {
    meeting.Meet();
    nccl::Launch(comm, tasks, kernel, stream);
    CHECK(cudaStreamSynchronize(stream));
  };
  for (int step = 0; step < steps; ++step) {
    if (step == begin) CHECK(cudaProfilerStart());
    launch(&all, {{nccl::kAllReduce, nccl::kFloat32, 1000, 0}}, nccl::ncclDevKernel_AllReduce_Sum_f32_RING_LL);
    launch(&all, {{nccl::kAllGather, nccl::kBfloat16, 500, 0}}, nccl::ncclDevKernel_AllGather_RING_SIMPLE);
    launch(&all, {{nccl::kReduceScatter, nccl::kFloat32, 10, 0}, {nccl::kReduceScatter, nccl::kFloat32, 20, 0}},
           nccl::ncclDevKernel_ReduceScatter_Sum_f32_RING_LL);
    launch(&pair, {{nccl::kAllReduce, nccl::kUint8, 64, 0}}, nccl::ncclDevKernel_Generic);
    launch(&pair, {{rank % 2 == 0 ? nccl::kSend : nccl::kRecv, nccl::kFloat32, 2000, 1 - rank % 2}},
           nccl::ncclDevKernel_SendRecv);
  }
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  nccl::Launch(&all, {{nccl::kAllReduce, nccl::kFloat32, 7, 0}}, nccl::ncclDevKernel_AllReduce_Sum_f32_RING_LL, stream);
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(stream, &graph));
  cudaGraphExec_t exec;
  CHECK(cudaGraphInstantiate(&exec, graph, 0));
  for (int i = 0; i < 2; ++i) CHECK(cudaGraphLaunch(exec, stream));
  CHECK(cudaStreamSynchronize(stream));
  nccl::Finalize(&all);
  nccl::Finalize(&pair);
  printf("rank %d is done\n", rank);
  return 0;
}
