// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/subscriber.h"

namespace gpuprof::tracer::cupti {
namespace {

constexpr char kName[] = "gpuprof";
// 13.2 has some of these functions as a trial.
constexpr uint32_t kFirstOfV2 = 130300;

bool HasV2(const Library& library) {
  const Functions& f = library.functions;
  return library.version >= kFirstOfV2 && f.subscribe_v2 != nullptr &&
         f.register_callbacks_v2 != nullptr && f.enable_v2 != nullptr && f.disable_v2 != nullptr &&
         f.get_next_record_v2 != nullptr && f.get_timestamp_v2 != nullptr &&
         f.get_attribute_v2 != nullptr && f.set_attribute_v2 != nullptr;
}

void Fail(const char* function, int result, SubscribeFailure* failure) {
  failure->function = function;
  failure->result = result;
}

}  // namespace

bool Subscriber::Subscribe(const Library& library, const Handlers& handlers,
                           TargetProfilerState* target, SubscribeFailure* failure) {
  functions_ = &library.functions;
  version_ = library.version;
  interface_ = Interface::kNone;
  const Functions& f = library.functions;
  if (!target_profiler_.Take(target, f, failure->holder)) {
    Fail("", kMultipleSubscribersNotSupported, failure);
    return false;
  }
  is_recording_ =
      (HasV2(library) && SubscribeV2(handlers, failure)) || SubscribeV1(handlers, failure);
  if (!is_recording_) target_profiler_.GiveBack(f);
  return is_recording_;
}

// By default CUPTI makes thread ids of pthread_self(), which no other row of the trace knows.
bool Subscriber::TakeSystemThreadIds() {
  uint64_t room = 0;
  size_t size = sizeof(room);
  int type = kThreadIdSystem;
  size_t type_size = sizeof(type);
  return functions_->get_attribute_v2(handle_, kAttributeThreadIdType, &size, &room) == kSuccess &&
         size == sizeof(type) &&
         functions_->set_attribute_v2(handle_, kAttributeThreadIdType, &type_size, &type) ==
             kSuccess;
}

bool Subscriber::SubscribeV2(const Handlers& handlers, SubscribeFailure* failure) {
  const Functions& f = *functions_;
  SubscriberParams params = {ParamsBytes(version_),   kName, failure->holder,
                             sizeof(failure->holder), 1,     {}};
  int result = f.subscribe_v2(&handle_, handlers.callback, nullptr, &params);
  if (result != kSuccess) {
    Fail("cuptiSubscribe_v2", result, failure);
    return false;
  }
  // The name of another subscriber, with whom we get on.
  failure->holder[0] = 0;
  if (TakeSystemThreadIds()) {
    result = f.register_callbacks_v2(handle_, handlers.requested_v2, handlers.completed_v2);
    if (result == kSuccess) {
      reader_.store(handle_);
      interface_ = Interface::kV2;
      return true;
    }
  }
  f.unsubscribe(handle_);
  handle_ = nullptr;
  return false;
}

// Of the first interface they are the library's, and another profiler's after this capture.
void Subscriber::TakeSystemThreadIdsOfAll() {
  const Functions& f = *functions_;
  if (f.set_thread_id_type == nullptr) return;
  has_old_thread_ids_ =
      f.get_thread_id_type != nullptr && f.get_thread_id_type(&old_thread_ids_) == kSuccess;
  f.set_thread_id_type(kThreadIdSystem);
}

void Subscriber::LeaveOutQueries() {
  left_out_queries_ = interface_ == Interface::kV1 &&
                      functions_->enable_all_sync_records != nullptr &&
                      functions_->enable_all_sync_records(0) == kSuccess;
}

// By subscribing once more: whom that finds in the way it names.
void Subscriber::AskForHolder(const Handlers& handlers, SubscribeFailure* failure) {
  if (functions_->subscribe_v2 == nullptr || failure->holder[0] != 0) return;
  SubscriberParams params = {ParamsBytes(version_),   kName, failure->holder,
                             sizeof(failure->holder), 0,     {}};
  SubscriberHandle handle = nullptr;
  const int result = functions_->subscribe_v2(&handle, handlers.callback, nullptr, &params);
  if (result == kSuccess) functions_->unsubscribe(handle);  // it has just left
}

bool Subscriber::CountEnabledKinds(uint32_t* count) const {
  const Functions& f = *functions_;
  return interface_ != Interface::kV2 && f.get_enabled_kinds != nullptr &&
         f.get_enabled_kinds(nullptr, nullptr, nullptr, count) == kSuccess;
}

bool Subscriber::SubscribeV1(const Handlers& handlers, SubscribeFailure* failure) {
  const Functions& f = *functions_;
  // Not all subscribe, and not all are linked to CUPTI: whoever records would lose its buffers to
  // us.
  if (uint32_t kinds = 0; CountEnabledKinds(&kinds) && kinds != 0) {
    Fail("", kMultipleSubscribersNotSupported, failure);
    return false;
  }
  int result = f.subscribe(&handle_, handlers.callback, nullptr);
  if (result != kSuccess) handle_ = nullptr;
  // Activity needs no subscription.
  const bool rests = IsHeld(result) && target_profiler_.HasSubscribed();
  if (result != kSuccess && !rests) {
    Fail("cuptiSubscribe", result, failure);
    if (IsHeld(result)) AskForHolder(handlers, failure);
    return false;
  }
  TakeSystemThreadIdsOfAll();
  result = f.register_callbacks(handlers.requested, handlers.completed);
  if (result == kSuccess) {
    interface_ = Interface::kV1;
    target_profiler_.NoteSettings(f);
    TakeDropped();  // of whoever recorded before
    return true;
  }
  Fail("cuptiActivityRegisterCallbacks", result, failure);
  LeaveCupti();
  return false;
}

bool Subscriber::Renew(const Handlers& handlers) {
  if (interface_ != Interface::kV1) return true;
  if (uint32_t kinds = 0; CountEnabledKinds(&kinds) && kinds != 0) return false;
  if (functions_->register_callbacks(handlers.requested, handlers.completed) != kSuccess)
    return false;
  TakeDropped();
  return true;
}

void Subscriber::LeaveCupti() {
  reader_.store(nullptr);
  if (has_old_thread_ids_) functions_->set_thread_id_type(old_thread_ids_);
  if (left_out_queries_) functions_->enable_all_sync_records(target_profiler_.AllSyncRecords());
  has_old_thread_ids_ = left_out_queries_ = false;
  if (handle_ != nullptr) functions_->unsubscribe(handle_);
  handle_ = nullptr;
}

void Subscriber::Unsubscribe() {
  if (!is_recording_) return;
  is_recording_ = false;
  LeaveCupti();
  target_profiler_.GiveBack(*functions_);
}

int Subscriber::Enable(Activity kind) {
  const auto number = static_cast<uint32_t>(kind);
  return interface_ == Interface::kV2 ? functions_->enable_v2(handle_, number, nullptr)
                                      : functions_->enable(number);
}

int Subscriber::TraceGraphs(bool as_wholes) {
  uint8_t value = as_wholes ? 1 : 0;
  size_t size = sizeof(value);
  return functions_->set_attribute_v2(handle_, kAttributeGraphTrace, &size, &value);
}

// Of V2 the kind alone would leave the nodes' records, of every launch both.
int Subscriber::EnableGraphTrace() {
  if (interface_ == Interface::kV2) {
    if (const int result = TraceGraphs(/*as_wholes=*/true); result != kSuccess) return result;
  }
  const int result = Enable(Activity::kGraphTrace);
  if (result != kSuccess && interface_ == Interface::kV2) TraceGraphs(/*as_wholes=*/false);
  return result;
}

int Subscriber::DisableGraphTrace() {
  const int result = Disable(Activity::kGraphTrace);
  if (interface_ == Interface::kV2) TraceGraphs(/*as_wholes=*/false);
  return result;
}

// Before the driver is ready a library may refuse to tell of what is there: that is nothing.
int Subscriber::EnableAndDump(Activity kind) {
  const Functions& f = *functions_;
  const auto number = static_cast<uint32_t>(kind);
  int result = kNotSupported;
  if (interface_ == Interface::kV2 && f.enable_and_dump_v2 != nullptr)
    result = f.enable_and_dump_v2(handle_, number, nullptr);
  if (interface_ == Interface::kV1 && f.enable_and_dump != nullptr)
    result = f.enable_and_dump(number);
  return result == kSuccess ? kSuccess : Enable(kind);
}

int Subscriber::GetAttribute(Attribute attribute, size_t* size, void* value) {
  const Functions& f = *functions_;
  if (interface_ == Interface::kV2) return f.get_attribute_v2(handle_, attribute, size, value);
  return f.get_attribute != nullptr ? f.get_attribute(attribute, size, value) : kNotSupported;
}

int Subscriber::Disable(Activity kind) {
  const auto number = static_cast<uint32_t>(kind);
  if (interface_ == Interface::kV1 && target_profiler_.HasKind(number)) return kSuccess;
  return interface_ == Interface::kV2 ? functions_->disable_v2(handle_, number, nullptr)
                                      : functions_->disable(number);
}

bool Subscriber::ReadOwnBuffers(OwnBuffers* own) {
  size_t bytes = 0, count = 0;
  uint8_t is_pinned = 0;
  if (!ReadAttribute(kDeviceBufferSize, &bytes) || !ReadAttribute(kDeviceBufferPreAllocate, &count))
    return false;
  ReadAttribute(kDeviceBufferHostPinned, &is_pinned);
  *own = {uint64_t{bytes} * count, is_pinned != 0};
  return true;
}

int Subscriber::EnableFunction(Domain domain, uint32_t id, bool enable) {
  const Functions& f = *functions_;
  const bool driver = domain == kDriverApi;
  if (interface_ == Interface::kV2) {
    const auto choose = driver ? f.enable_driver_api_v2 : f.enable_runtime_api_v2;
    return choose != nullptr ? choose(handle_, id, enable ? 1 : 0) : kNotSupported;
  }
  const auto choose = driver ? f.enable_driver_api : f.enable_runtime_api;
  return choose != nullptr ? choose(id, enable ? 1 : 0) : kNotSupported;
}

int Subscriber::EnableCallback(Domain domain, uint32_t id, bool enable) {
  if (handle_ == nullptr) return kNotSupported;
  return functions_->enable_callback(enable ? 1 : 0, handle_, domain, id);
}

int Subscriber::Flush(bool forced) { return functions_->flush_all(forced ? kFlushForced : 0); }

uint64_t Subscriber::Time() {
  uint64_t ns = target_profiler_.Time();
  if (ns != 0) return ns;
  const int result = interface_ == Interface::kV2 ? functions_->get_timestamp_v2(handle_, &ns)
                                                  : functions_->get_timestamp(&ns);
  return result == kSuccess ? ns : 0;
}

uint64_t Subscriber::TakeDropped() {
  const Functions& f = *functions_;
  size_t dropped = 0;
  int result = kNotSupported;
  if (interface_ == Interface::kV1) result = f.get_dropped(nullptr, 0, &dropped);
  if (interface_ == Interface::kV2 && f.get_dropped_v2 != nullptr)
    result = f.get_dropped_v2(handle_, nullptr, 0, &dropped);
  return result == kSuccess ? dropped : 0;
}

int Subscriber::NextRecord(uint8_t* buffer, size_t valid, void** record) const {
  SubscriberHandle reader = reader_.load();
  return reader != nullptr ? functions_->get_next_record_v2(reader, buffer, valid, record)
                           : functions_->get_next_record(buffer, valid, record);
}

}  // namespace gpuprof::tracer::cupti
