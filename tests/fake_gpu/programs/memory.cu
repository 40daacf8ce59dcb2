// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Allocates as it is told: memory COMMAND... [-], the dash for more of them on stdin, each answered
// with "done COMMAND". What is not freed leaks.
//
//   device|managed|pinned|async|pool N BYTES   N blocks; async from the device's pool, pool from
//                                              one of the program's
//   register N BYTES  memory of the program's own made known, and forgotten again
//   free N       the N oldest blocks
//   trim         of the own pool, to nothing
//   destroy      the own pool; the next is a new one
//   use DEVICE   from now on
//   reset        the device: what was allocated on it goes, but for memory of pools
//   pause N      milliseconds
//   threads N BYTES   in each of 4 threads N times a block that is freed at once

#include <string.h>
#include <unistd.h>
#include <algorithm>
#include <deque>
#include <thread>
#include <vector>

#include "check.h"

struct Block {
  void* at;
  char kind;
  int device;
};

static std::deque<Block> blocks;
static cudaStream_t stream;
static cudaMemPool_t pool;
static int device;

static void MakePool() {
  if (pool != nullptr) return;
  cudaMemPoolProps properties = {};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  CHECK(cudaMemPoolCreate(&pool, &properties));
}

static void Allocate(char kind, size_t bytes) {
  void* at = nullptr;
  if (kind == 'd') CHECK(cudaMalloc(&at, bytes));
  if (kind == 'm') CHECK(cudaMallocManaged(&at, bytes));
  if (kind == 'h') CHECK(cudaMallocHost(&at, bytes));
  if (kind == 'a' || kind == 'p') {
    if (stream == nullptr) CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    if (kind == 'p') MakePool();
    CHECK(kind == 'p' ? cudaMallocFromPoolAsync(&at, bytes, pool, stream)
                      : cudaMallocAsync(&at, bytes, stream));
  }
  blocks.push_back({at, kind, device});
}

static void FreeOldest() {
  if (blocks.empty()) return;
  const Block block = blocks.front();
  blocks.pop_front();
  if (block.kind == 'h') {
    CHECK(cudaFreeHost(block.at));
  } else if (block.kind == 'd' || block.kind == 'm') {
    CHECK(cudaFree(block.at));
  } else {
    CHECK(cudaFreeAsync(block.at, stream));
  }
}

static void Reset() {
  CHECK(cudaDeviceReset());
  const auto gone = [](const Block& block) {
    return block.device == device && block.kind != 'a' && block.kind != 'p';
  };
  blocks.erase(std::remove_if(blocks.begin(), blocks.end(), gone), blocks.end());
  stream = nullptr;
}

static void Threads(int count, size_t bytes) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([count, bytes] {
      for (int i = 0; i < count; ++i) {
        void* at = nullptr;
        CHECK(cudaMalloc(&at, bytes));
        CHECK(cudaFree(at));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

static void Do(const char* command) {
  char word[16] = {};
  unsigned long count = 0, bytes = 0;
  sscanf(command, "%15s %lu %lu", word, &count, &bytes);
  const struct {
    const char* word;
    char kind;
  } kinds[] = {{"device", 'd'}, {"managed", 'm'}, {"pinned", 'h'}, {"async", 'a'}, {"pool", 'p'}};
  for (const auto& kind : kinds) {
    if (strcmp(word, kind.word) != 0) continue;
    for (unsigned long i = 0; i < count; ++i) Allocate(kind.kind, bytes);
  }
  if (strcmp(word, "free") == 0) {
    for (unsigned long i = 0; i < count; ++i) FreeOldest();
  }
  if (strcmp(word, "trim") == 0) {
    MakePool();
    CHECK(cudaMemPoolTrimTo(pool, 0));
  }
  if (strcmp(word, "destroy") == 0 && pool != nullptr) {
    CHECK(cudaMemPoolDestroy(pool));
    pool = nullptr;
  }
  if (strcmp(word, "use") == 0) {
    device = static_cast<int>(count);
    CHECK(cudaSetDevice(device));
    stream = nullptr;
    pool = nullptr;
  }
  if (strcmp(word, "reset") == 0) Reset();
  if (strcmp(word, "pause") == 0) usleep(1000 * count);
  if (strcmp(word, "register") == 0) {
    std::vector<char> own(bytes);
    for (unsigned long i = 0; i < count; ++i) {
      CHECK(cudaHostRegister(own.data(), own.size(), 0));
      CHECK(cudaHostUnregister(own.data()));
    }
  }
  if (strcmp(word, "threads") == 0) Threads(static_cast<int>(count), bytes);
}

int main(int argc, char** argv) {
  CHECK(cudaFree(nullptr));
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "-") != 0) {
      Do(argv[i]);
      continue;
    }
    printf("ready\n");
    fflush(stdout);
    char line[64];
    while (fgets(line, sizeof line, stdin) != nullptr) {
      line[strcspn(line, "\n")] = 0;
      Do(line);
      printf("done %s\n", line);
      fflush(stdout);
    }
  }
  return 0;
}
