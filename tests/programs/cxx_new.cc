// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The C++ ways to memory: scalar and array, aligned, nothrow, sized deletes, and an exception for
// too much; also shared_ptr, string and a throw across frames. All reach malloc.

#include <cstdio>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>

struct alignas(256) Wide {
  char bytes[40192];
};

static volatile size_t g_huge = ~size_t{0} / 4;

static void Throw(int depth) {
  std::string text(40064, 'x');
  if (depth == 0) throw std::runtime_error(text);
  Throw(depth - 1);
}

int main() {
  for (int i = 0; i < 10; ++i) operator delete(operator new(40001));
  for (int i = 0; i < 11; ++i) delete[] new char[40002];
  for (int i = 0; i < 12; ++i) delete new Wide;
  for (int i = 0; i < 13; ++i) operator delete(operator new(40003, std::nothrow));
  for (int i = 0; i < 14; ++i) operator delete (operator new(40004), size_t{40004});
  for (int i = 0; i < 15; ++i) std::shared_ptr<char[]> shared(new char[40005]);
  int caught = 0;
  for (int i = 0; i < 100; ++i) {
    try {
      Throw(10);
    } catch (const std::runtime_error& error) {
      caught += error.what()[0] == 'x';
    }
  }
  try {
    char* block = new char[g_huge];
    std::printf("got %p\n", static_cast<void*>(block));
  } catch (const std::bad_alloc&) {
    std::printf("bad_alloc, %d caught\n", caught);
  }
  return new (std::nothrow) char[g_huge] == nullptr ? 0 : 1;
}
