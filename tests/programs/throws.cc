// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Exceptions thrown through ten frames, each with something to clean up: throws THREADS EACH.

#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace {

int g_each;

struct Counted {
  explicit Counted(long* count) : count_(count), block_(new char[71]) {
    asm volatile("" ::"r"(block_) : "memory");  // not to be left out
  }
  ~Counted() {
    delete[] block_;
    ++*count_;
  }
  long* count_;
  char* block_;
};

__attribute__((noinline)) int Deep(int left, int value, long* cleaned) {
  const Counted guard(cleaned);
  if (left == 0) {
    if (value % 2 == 0) throw std::runtime_error("number " + std::to_string(value));
    throw value;
  }
  return Deep(left - 1, value, cleaned) + 1;
}

struct Result {
  long cleaned = 0;
  long numbers = 0;
  long texts = 0;
};

void* Work(void* opaque) {
  Result* result = static_cast<Result*>(opaque);
  for (int i = 0; i < g_each; ++i) {
    try {
      Deep(9, i, &result->cleaned);
    } catch (const std::exception& error) {
      result->texts += std::atoi(error.what() + 7);
    } catch (int value) {
      result->numbers += value;
    }
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const int threads = std::atoi(argv[1]);
  g_each = std::atoi(argv[2]);
  pthread_t handles[16];
  Result results[16];
  for (int i = 0; i < threads; ++i) pthread_create(&handles[i], nullptr, Work, &results[i]);
  for (int i = 0; i < threads; ++i) {
    pthread_join(handles[i], nullptr);
    std::printf("%ld cleaned, %ld, %ld\n", results[i].cleaned, results[i].numbers,
                results[i].texts);
  }
  return 0;
}
