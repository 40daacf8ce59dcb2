// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Exceptions of foreign code end at the protected call, with everything in between unwound.

#include "tracer/torch/protected_call.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace gpuprof::tracer {
namespace {

void* Lookup(void*, const char* name) { return dlsym(RTLD_DEFAULT, name); }

struct Work {
  int depth = 0;
  bool throws = false;
  int unwound = 0;
  int done = 0;
};

struct Unwound {
  explicit Unwound(int* count) : count_(count) {}
  ~Unwound() { ++*count_; }
  int* count_;
};

[[gnu::noinline]] void Nest(Work* work, int depth) {
  Unwound unwound(&work->unwound);
  if (depth > 0) {
    Nest(work, depth - 1);
  } else if (work->throws) {
    throw std::runtime_error("an op that is not there");
  }
  ++work->done;
}

void RunWork(void* argument) {
  Work* work = static_cast<Work*>(argument);
  Nest(work, work->depth);
}

class ProtectedCallTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(ProtectedCallInit(Lookup, nullptr)); }
};

TEST_F(ProtectedCallTest, WithoutAnExceptionItIsACall) {
  Work work{5};
  EXPECT_TRUE(ProtectedCall(RunWork, &work));
  EXPECT_EQ(work.done, 6);
  EXPECT_EQ(work.unwound, 6);
}

TEST_F(ProtectedCallTest, AnExceptionUnwindsAndIsDropped) {
  for (int i = 0; i < 1000; ++i) {
    Work work{i % 20, true};
    EXPECT_FALSE(ProtectedCall(RunWork, &work));
    EXPECT_EQ(work.done, 0);
    EXPECT_EQ(work.unwound, i % 20 + 1);
  }
}

// Destructors of the program ask this, and act on it.
TEST_F(ProtectedCallTest, TheThreadThrowsNoMoreAfterwards) {
  Work work{3, true};
  EXPECT_FALSE(ProtectedCall(RunWork, &work));
  EXPECT_EQ(std::uncaught_exceptions(), 0);
  EXPECT_EQ(std::current_exception(), nullptr);
}

TEST_F(ProtectedCallTest, TheExceptionIsDestroyed) {
  static int destroyed = 0;
  struct Told {
    bool counts = true;
    Told() = default;
    Told(Told&& other) noexcept { std::swap(counts, other.counts); }
    ~Told() { destroyed += counts ? 1 : 0; }
  };
  EXPECT_FALSE(ProtectedCall([](void*) { throw Told(); }, nullptr));
  EXPECT_EQ(destroyed, 1);
}

TEST_F(ProtectedCallTest, ExceptionsAroundAndInsideStillWork) {
  try {
    Work work{3, true};
    EXPECT_FALSE(ProtectedCall(RunWork, &work));
    throw std::string("outside");
  } catch (const std::string& text) {
    EXPECT_EQ(text, "outside");
  }
  const auto inside = [](void* argument) {
    try {
      RunWork(argument);
    } catch (const std::runtime_error&) {
      static_cast<Work*>(argument)->done = -1;
    }
  };
  Work work{3, true};
  EXPECT_TRUE(ProtectedCall(inside, &work));
  EXPECT_EQ(work.done, -1);
}

}  // namespace
}  // namespace gpuprof::tracer
