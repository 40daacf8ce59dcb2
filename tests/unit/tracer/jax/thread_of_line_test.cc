// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/jax/thread_of_line.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <functional>
#include <future>
#include <thread>

namespace gpuprof::tracer::jax {
namespace {

uint32_t OwnNumber() { return static_cast<uint32_t>(syscall(SYS_gettid)); }

TEST(ThreadOfLine, TheHashOfTheStandardLibraryHasAnInverse) {
  const std::thread::id id = std::this_thread::get_id();
  EXPECT_EQ(Unhash(std::hash<std::thread::id>()(id)), static_cast<uint64_t>(pthread_self()));
}

TEST(ThreadOfLine, FindsThreadsByTheirHash) {
  EXPECT_EQ(ThreadOfLine(std::hash<std::thread::id>()(std::this_thread::get_id())), OwnNumber());
  std::promise<uint32_t> number;
  std::promise<void> end;
  std::thread other([&] {
    number.set_value(OwnNumber());
    end.get_future().wait();
  });
  EXPECT_EQ(ThreadOfLine(std::hash<std::thread::id>()(other.get_id())), number.get_future().get());
  end.set_value();
  other.join();
}

TEST(ThreadOfLine, OlderLinesAreNumbersOfThreads) { EXPECT_EQ(ThreadOfLine(4711), 4711u); }

TEST(ThreadOfLine, WrongNumbersAreNoFault) {
  for (const uint64_t line : {uint64_t{0}, uint64_t{1} << 40, ~uint64_t{0}, uint64_t{0xdeadbeef}})
    EXPECT_EQ(ThreadOfLine(line), 0u) << line;
}

}  // namespace
}  // namespace gpuprof::tracer::jax
