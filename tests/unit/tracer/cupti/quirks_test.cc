// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The table of quirks at its edges, the names of releases, and which functions are recorded.

#include "tracer/cupti/quirks.h"

#include <gtest/gtest.h>

#include <string>

#include "tracer/cupti/api_functions.h"

namespace gpuprof::tracer::cupti {
namespace {

std::string ReleaseOf(uint32_t version) {
  char line[40];
  Text text(line);
  AddRelease(version, &text);
  return line;
}

std::string WarningsOf(uint32_t version) {
  char line[400];
  Text text(line);
  AddWarnings(version, &text);
  return line;
}

TEST(Quirks, EndWhereTheReleaseNotesSay) {
  EXPECT_NE(QuirksOf(18) & kNeverRefuseBuffers, 0u);
  EXPECT_NE(QuirksOf(26) & kNeverRefuseBuffers, 0u);
  EXPECT_EQ(QuirksOf(27) & kNeverRefuseBuffers, 0u);
  EXPECT_EQ(QuirksOf(24) & kLeaveOutQueries, 0u);
  EXPECT_NE(QuirksOf(26) & kLeaveOutQueries, 0u);
  EXPECT_EQ(QuirksOf(28) & kSmallBuffers, 0u);
  EXPECT_NE(QuirksOf(130000) & kSmallBuffers, 0u);
  EXPECT_NE(QuirksOf(140000) & kSmallBuffers, 0u);
}

TEST(Quirks, WhatNothingHelpsAgainstIsTold) {
  EXPECT_NE(WarningsOf(130000).find("13.0 Update 1"), std::string::npos);
  EXPECT_EQ(WarningsOf(130001), "");
  EXPECT_NE(WarningsOf(130100).find("graphs"), std::string::npos);
  EXPECT_NE(WarningsOf(130200).find("13.3"), std::string::npos);
  EXPECT_EQ(WarningsOf(28), "");
  EXPECT_EQ(WarningsOf(130300), "");
}

TEST(Quirks, ReleasesHaveTheToolkitsNames) {
  EXPECT_EQ(ReleaseOf(18), "11.8");
  EXPECT_EQ(ReleaseOf(24), "12.6");
  EXPECT_EQ(ReleaseOf(28), "12.9");
  EXPECT_EQ(ReleaseOf(130001), "13.0");
  EXPECT_EQ(ReleaseOf(130400), "13.4");
  EXPECT_EQ(ReleaseOf(17), "?");
}

TEST(Functions, OfTheDriverThoseThatWorkOfTheRuntimeAllThatDoMoreThanLook) {
  for (const char* name :
       {"cuLaunchKernel", "cuLaunchKernelEx_ptsz", "cuGraphLaunch", "cuMemcpyHtoDAsync_v2",
        "cuMemsetD32Async", "cuMemAllocFromPoolAsync", "cuMemFree_v2", "cuCtxSynchronize_v2",
        "cuStreamWaitEvent", "cuEventRecordWithFlags_ptsz"})
    EXPECT_TRUE(IsRecordedFunction(kDriverApi, name)) << name;
  for (const char* name : {"cuCtxGetCurrent", "cuMemGetInfo_v2", "cuMemGetAllocationGranularity",
                           "cuStreamQuery", "cuGetProcAddress_v2", "cuMemPoolGetAttribute"})
    EXPECT_FALSE(IsRecordedFunction(kDriverApi, name)) << name;
  EXPECT_FALSE(IsRecordedFunction(kDriverApi, nullptr));
  EXPECT_TRUE(IsRecordedFunction(kRuntimeApi, "cudaLaunchKernel_v7000"));
  EXPECT_TRUE(IsRecordedFunction(kRuntimeApi, "cudaGetDeviceCount_v3020"));
  EXPECT_FALSE(IsRecordedFunction(kRuntimeApi, "cudaGetDevice_v3020"));
  EXPECT_TRUE(IsRecordedFunction(kRuntimeApi, nullptr));
  for (const char* name : {"cudaEventRecord_v3020", "cudaEventRecordWithFlags_ptsz_v11010",
                           "cuEventRecord_ptsz", "cuEventRecordWithFlags"})
    EXPECT_TRUE(IsEventRecordFunction(name)) << name;
  for (const char* name : {"cudaEventSynchronize_v3020", "cuEventQuery", "cuStreamWaitEvent"})
    EXPECT_FALSE(IsEventRecordFunction(name)) << name;
  EXPECT_FALSE(IsEventRecordFunction(nullptr));
}

}  // namespace
}  // namespace gpuprof::tracer::cupti
