// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The two generations of CUPTI's interface behind one. The first (V1) has one subscriber in a
// process, whose kinds and buffers are the library's own. The second (V2: CUPTI 13.3 with a driver
// that plays along, r610) gives each subscriber its own, so that several profilers get on, where
// all of them use it: functions of both in one process are refused. Which one it is shows when
// subscribing: V2 is asked for first, and with others allowed.
//
// The thread that calls CUPTI, one at a time; NextRecord the drain.

#pragma once

#include <atomic>
#include <cstdint>

#include "tracer/cupti/abi.h"
#include "tracer/cupti/device_records.h"
#include "tracer/cupti/library.h"
#include "tracer/cupti/target_profiler.h"

namespace gpuprof::tracer::cupti {

enum class Interface : uint32_t { kNone, kV1, kV2 };

// What CUPTI calls, in the form of each generation.
struct Handlers {
  Callback callback;
  BufferRequested requested;
  BufferCompleted completed;
  BufferRequestedV2 requested_v2;
  BufferCompletedV2 completed_v2;
};

// Whether the answer to a subscription means that another one is there.
inline bool IsHeld(int result) {
  return result == kMultipleSubscribersNotSupported || result == kMaxLimitReached;
}

struct SubscribeFailure {
  const char* function = "";  // "": it was not called, as it would have harmed the holder
  int result = kSuccess;
  char holder[kHolderBytes] = {};  // who subscribes already, where the library tells
};

class Subscriber {
 public:
  // False: `failure` says why, and nothing is left behind. Calls of `target` that ask for CUPTI
  // wait until Unsubscribe.
  bool Subscribe(const Library& library, const Handlers& handlers, TargetProfilerState* target,
                 SubscribeFailure* failure);
  // Of V2 the buffers that were delivered must have been read: NextRecord asks for the subscriber.
  void Unsubscribe();
  // Whether there is a subscription. It may outlast a capture (capture.h, WatchProfilerCalls).
  bool IsSubscribed() const { return is_recording_; }
  // Before another capture with the same subscription: the buffers of V1 may be somebody else's by
  // now. False: somebody else records.
  bool Renew(const Handlers& handlers);
  // Whether the program waits for CUPTI.
  bool IsWanted() const { return target_profiler_.IsWanted(); }
  // False: V1 without a subscription, as a profiler of the program has it and rests.
  bool HasCallbacks() const { return handle_ != nullptr; }

  // Where queries of what is not ready are records of waits by default: not while this subscribes.
  void LeaveOutQueries();

  int Enable(Activity kind);
  // Of V2 before any other kind, and for all subscribers. Only while no graph has been
  // instantiated: CUPTI 13.0 crashes in the launch of a graph that is older than this kind (seen on
  // an H200).
  int EnableGraphTrace();
  int DisableGraphTrace();
  // With records of what is there already, where the library can.
  int EnableAndDump(Activity kind);
  int Disable(Activity kind);
  // False: it does not tell.
  template <typename T>
  bool ReadAttribute(Attribute attribute, T* value) {
    size_t size = sizeof(*value);
    return GetAttribute(attribute, &size, value) == kSuccess;
  }
  // False: it does not tell what buffers of its own it takes.
  bool ReadOwnBuffers(OwnBuffers* own);
  // Records or leaves out the calls of one function. kNotSupported: not to be had here.
  int EnableFunction(Domain domain, uint32_t id, bool enable);
  int EnableCallback(Domain domain, uint32_t id, bool enable = true);
  // Of the first interface, whoever enabled them; false: the library does not tell (it does since
  // 13.2), or others come and go by the second.
  bool CountEnabledKinds(uint32_t* count) const;
  // Of all subscribers: CUPTI knows no other. A CUPTI result.
  int Flush(bool forced);
  // CUPTI's clock in ns; 0: it cannot be had.
  uint64_t Time();
  // Counted since the last time.
  uint64_t TakeDropped();

  // As cuptiActivityGetNextRecord.
  int NextRecord(uint8_t* buffer, size_t valid, void** record) const;

  // Of the last subscription.
  Interface interface() const { return interface_; }

 private:
  bool SubscribeV1(const Handlers& handlers, SubscribeFailure* failure);
  bool SubscribeV2(const Handlers& handlers, SubscribeFailure* failure);
  void LeaveCupti();
  bool TakeSystemThreadIds();
  void TakeSystemThreadIdsOfAll();
  int TraceGraphs(bool as_wholes);
  int GetAttribute(Attribute attribute, size_t* size, void* value);
  void AskForHolder(const Handlers& handlers, SubscribeFailure* failure);

  const Functions* functions_ = nullptr;
  uint32_t version_ = 0;
  SubscriberHandle handle_ = nullptr;
  std::atomic<SubscriberHandle> reader_{nullptr};  // of V2, while it subscribes
  TargetProfiler target_profiler_;
  bool is_recording_ = false;
  Interface interface_ = Interface::kNone;
  // Of V1, to be put back.
  bool has_old_thread_ids_ = false;
  int old_thread_ids_ = 0;
  bool left_out_queries_ = false;
};

}  // namespace gpuprof::tracer::cupti
