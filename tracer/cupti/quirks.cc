// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/quirks.h"

namespace gpuprof::tracer::cupti {
namespace {

constexpr uint32_t kToday = UINT32_MAX;

constexpr Quirk kQuirks[] = {
    {0, 26, kNeverRefuseBuffers, "a refused buffer crashes it",
     "release notes of 12.9; pytorch/kineto gates on API 27 (pull 1534)"},
    {26, kToday, kLeaveOutQueries, "queries that were not ready are records of waits by default",
     "cuptiActivityEnableAllSyncRecords in cupti_activity.h of 13.0"},
    {130000, kToday, kSmallBuffers, "each thread has a buffer of its own by default",
     "CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER in cupti_activity.h of 13.0"},
    {130200, kToday, kReadsWithDriver, "records are read with the driver's help",
     "cuptiActivityGetNextRecord without a driver: 12 up to 13.1, 999 from 13.3 on"},
    {130000, 130000, kTell, "it may hang when recording ends (fixed in 13.0 Update 1)",
     "release notes of 13.0 Update 1: deadlock when the kernel kind is disabled"},
    {130100, 130100, kTell,
     "from the second capture on, launches of graphs may be matched with the wrong kernels "
     "(fixed in 13.1 Update 1)",
     "release notes of 13.1 Update 1"},
    {130200, 130299, kTell, "it slows down a program that calls it often (fixed in 13.3)",
     "release notes of 13.3"},
};

struct Release {
  uint32_t version;
  const char* name;
};
// Before versions were made of the release's numbers.
constexpr Release kReleases[] = {{18, "11.8"}, {19, "12.0"}, {20, "12.2"}, {21, "12.3"},
                                 {22, "12.4"}, {23, "12.5"}, {24, "12.6"}, {26, "12.8"},
                                 {27, "12.9"}, {28, "12.9"}};

}  // namespace

uint32_t QuirksOf(uint32_t version) {
  uint32_t actions = 0;
  for (const Quirk& quirk : kQuirks) {
    if (version >= quirk.first && version <= quirk.last) actions |= quirk.action;
  }
  return actions;
}

void AddWarnings(uint32_t version, Text* text) {
  for (const Quirk& quirk : kQuirks) {
    if (quirk.action == kTell && version >= quirk.first && version <= quirk.last)
      text->Add("; ").Add(quirk.fact);
  }
}

void AddRelease(uint32_t version, Text* text) {
  if (version >= 130000) {
    text->Number(version / 10000).Add(".").Number(version / 100 % 100);
    return;
  }
  for (const Release& release : kReleases) {
    if (release.version == version) {
      text->Add(release.name);
      return;
    }
  }
  text->Add("?");
}

}  // namespace gpuprof::tracer::cupti
