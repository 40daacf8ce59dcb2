// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The offsets are those that an interpreter of each version tells.

#include "tracer/python/layout.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string_view>
#include <vector>

namespace gpuprof::tracer {
namespace {

// The first words of _Py_DebugOffsets behind its mark: version, free_threaded, and so on.
using Words = std::vector<uint64_t>;

const Words k313 = {0x30d00f0, 0,    283320, 608,  632, 194968, 7272, 7264, 7344, 7400, 7656,
                    7640,      7648, 16,     7752, 0,   7768,   7760, 304,  0,    8,    16,
                    72,        152,  160,    232,  32,  80,     8,    0,    56,   72,   70,
                    208,       112,  120,    128,  136, 68,     52,   96,   104,  200};
const Words k314 = {0x30e08f0, 0,    316616, 784,  808, 225864, 7280, 7272, 7344, 7360, 7408, 7688,
                    7672,      7680, 16,     7784, 0,   7800,   7792, 7992, 0,    832,  0,    8,
                    16,        72,   152,    160,  232, 32,     88,   8,    0,    56,   80,   74,
                    64,        0,    216,    112,  120, 128,    136,  68,   52,   96,   104,  208};

std::vector<uint8_t> Head(const Words& words) {
  std::vector<uint8_t> head(kDebugOffsetsBytes);
  std::memcpy(head.data(), "xdebugpy", 8);
  std::memcpy(head.data() + 8, words.data(), words.size() * 8);
  return head;
}

TEST(LayoutTest, TakesWhatTheInterpreterTells) {
  PythonLayout at = {};
  ASSERT_EQ(LayoutOf(0x030d, Head(k313).data(), &at), nullptr);
  EXPECT_EQ(at.interpreters, 632u);
  EXPECT_EQ(at.gil_pointer, 16u);
  EXPECT_EQ(at.owner, 70u);
  EXPECT_EQ(at.code_tags, 0u);
  EXPECT_EQ(at.code_units, 200u);

  ASSERT_EQ(LayoutOf(0x030e, Head(k314).data(), &at), nullptr);
  EXPECT_EQ(at.interpreters, 808u);
  EXPECT_EQ(at.next_interpreter, 7272u);
  EXPECT_EQ(at.threads, 7344u);
  EXPECT_EQ(at.gil_pointer, 16u);
  EXPECT_EQ(at.next_thread, 8u);
  EXPECT_EQ(at.frame, 72u);
  EXPECT_EQ(at.thread_number, 160u);
  EXPECT_EQ(at.caller, 8u);
  EXPECT_EQ(at.code, 0u);
  EXPECT_EQ(at.code_tags, 3u);
  EXPECT_EQ(at.instruction, 56u);
  EXPECT_EQ(at.owner, 74u);
  EXPECT_EQ(at.file_name, 112u);
  EXPECT_EQ(at.name, 128u);  // the qualified one
  EXPECT_EQ(at.lines, 136u);
  EXPECT_EQ(at.first_line, 68u);
  EXPECT_EQ(at.code_units, 208u);
  EXPECT_LT(at.owner, at.frame_bytes);
}

TEST(LayoutTest, OlderOnesNeedNoOffsets) {
  for (uint32_t version = 0x0308; version < 0x030d; ++version) {
    PythonLayout at = {};
    EXPECT_EQ(LayoutOf(version, nullptr, &at), nullptr) << version;
    EXPECT_EQ(at.code_tags, 0u);
  }
}

TEST(LayoutTest, RefusesWhatItDoesNotKnow) {
  PythonLayout at = {};
  const std::string_view unknown = LayoutOf(0x030f, Head(k314).data(), &at);
  EXPECT_EQ(unknown, "no Python samples: this version of Python is not known");
  EXPECT_EQ(LayoutOf(0x0307, nullptr, &at), unknown);
  // The offsets of another version, of an early release, and none at all.
  EXPECT_EQ(LayoutOf(0x030e, Head(k313).data(), &at), unknown);
  Words early = k314;
  early[0] = 0x030e00a7;
  EXPECT_EQ(LayoutOf(0x030e, Head(early).data(), &at), unknown);
  early[0] = 0x030e00c1;
  EXPECT_EQ(LayoutOf(0x030e, Head(early).data(), &at), nullptr);
  EXPECT_EQ(LayoutOf(0x030e, std::vector<uint8_t>(kDebugOffsetsBytes).data(), &at), unknown);
}

TEST(LayoutTest, RefusesAnInterpreterWithoutALock) {
  Words free_threaded = k314;
  free_threaded[1] = 1;
  PythonLayout at = {};
  EXPECT_EQ(std::string_view(LayoutOf(0x030e, Head(free_threaded).data(), &at)),
            "no Python samples: this Python has no global interpreter lock");
}

TEST(LayoutTest, RefusesOffsetsThatLieOutside) {
  Words strange = k314;
  strange[35] = 4000;  // the owner of a frame
  PythonLayout at = {};
  EXPECT_NE(LayoutOf(0x030e, Head(strange).data(), &at), nullptr);
}

}  // namespace
}  // namespace gpuprof::tracer
