// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What every nanosecond of each device is in each step: for the passes `steps` and `overview`. One
// thread.

#pragma once

#include <map>
#include <memory>
#include <vector>

#include "analysis/derived/device_timeline.h"
#include "analysis/passes/context.h"
#include "proto/results/steps.pb.h"

namespace gpuprof::analysis {

// The timelines of the devices that one process used.
class ProcessDevices {
 public:
  ProcessDevices(PassContext& context, size_t index);

  // Returns the timelines by the process's numbers of its devices. All have work.
  const std::map<uint32_t, DeviceTimeline>& all() const { return timelines_; }

 private:
  std::map<uint32_t, DeviceTimeline> timelines_;
};

// Returns whether a process has more work than a timeline of its devices fits into memory: 20
// million pieces.
bool HasTooMuchWork(const Process& process);
// Says so, if a selected process has.
void AddTooMuchWorkNote(PassContext& context, results::Meta* meta);

// Adds the rows of times that are not 0, in the order of the categories. They add up to
// `window_ns`.
void AddTimes(const DeviceTimes& times, int64_t window_ns,
              google::protobuf::RepeatedPtrField<results::CategoryTime>* out);

// Returns the period of each step of the process's leading thread on a device (StepPeriods).
std::vector<Interval> PeriodsOnDevice(PassContext& context, size_t index, uint32_t device,
                                      const DeviceTimeline& timeline);

// Returns the index of the device's stream with most kernels. Process::tracks.size(): the device
// has no stream.
size_t MainStream(const Process& process, uint32_t device);

// Returns the devices' part of the result for a process.
const results::Steps& DeviceStepsOf(PassContext& context, size_t index);
// Returns the series of that part alone, which takes far less room.
const google::protobuf::RepeatedPtrField<results::DeviceSeries>& DeviceSeriesOf(
    PassContext& context, size_t index);
// Returns whether DeviceSeriesOf makes the series alone, and not all steps.
bool HasManyProcesses(const PassContext& context);
// Makes what DeviceSeriesOf returns, for a job of many processes. `devices`: of the process.
void KeepDeviceSeries(PassContext& context, size_t index, const ProcessDevices& devices);

}  // namespace gpuprof::analysis
