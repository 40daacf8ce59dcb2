// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/activity_sorter.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "proto/schema.h"
#include "tracer/cupti/kernel_signature.h"

namespace gpuprof::tracer::cupti {
namespace {

using proto::ChunkKind;

// What records of all libraries of late hold.
constexpr size_t kKernelBytes = kernel::kDeviceLaunched, kApiBytes = api::kResult + 4;

// CUPTI's cudaEventSyncId, of which it has two ways to say that there is none.
uint64_t RecordingOf(uint64_t sync_id) {
  return sync_id == kNoId || sync_id == UINT64_MAX ? 0 : sync_id;
}

[[gnu::always_inline]] inline void ReadCall(const Record& record, uint32_t function,
                                            ApiCall* call) {
  call->start = record.U64(api::kStart);
  call->end = record.U64(api::kEnd);
  call->tid = record.U32(api::kThread);
  call->correlation = record.U32(api::kCorrelation);
  call->function = function;
  call->result = record.U32(api::kResult);
}

}  // namespace

template <size_t kColumns>
[[gnu::always_inline]] inline void ActivitySorter::AppendChosen(RateBudget::Class of,
                                                                uint64_t correlation,
                                                                codec::SpanBuffer** buffer,
                                                                ChunkKind kind, uint32_t track,
                                                                const uint64_t (&row)[kColumns]) {
  constexpr int kEnd = 0;
  if (!budget_.Keeps(of, static_cast<uint32_t>(correlation), row[kEnd])) return;
  const uint32_t one_in = budget_.one_in(of, static_cast<uint32_t>(correlation));
  codec::SpanBuffer* to = BufferOf(buffer, kind, track);
  if (to->count() == 0) to->SetSampledOneIn(one_in);
  if (to->sampled_one_in() != one_in) to = LateBuffer(kind, track, one_in);
  to->AppendRow(row);
  ++rows_;
}

template <ChunkKind kKind, size_t kColumns>
[[gnu::always_inline]] inline void ActivitySorter::AppendChosen(RateBudget::Class of,
                                                                uint64_t correlation,
                                                                Stream* stream,
                                                                const uint64_t (&row)[kColumns]) {
  AppendChosen(of, correlation, stream->BufferOf<kKind>(of), kKind, stream->track, row);
}

template <ChunkKind kKind>
void ActivitySorter::Append(Stream* stream, const uint64_t* row) {
  Append(stream->BufferOf<kKind>(RateBudget::kCalls), kKind, stream->track, row);
}

ActivitySorter::ActivitySorter(codec::InternTables* strings, ThreadTracks* tracks)
    : names_(strings), strings_(strings), streams_(tracks), threads_(tracks) {}

void ActivitySorter::Consume(const FilledBuffer& buffer, NextRecordFunction next_record,
                             const FunctionNames& names) {
  names_.NextBuffer();
  calls_of_runtime_.clear();
  calls_of_driver_.clear();
  const bool is_whole = EachRecord(buffer.bytes, buffer.valid, next_record,
                                   [&](const Record& record) { Take(record, names); });
  if (!is_whole) ++counters_.unread;
  driver_calls_.Take(calls_of_runtime_, calls_of_driver_);
  for (const ApiCall& call : calls_of_runtime_) AppendCall(call, names);
}

void ActivitySorter::Take(const Record& record, const FunctionNames& names) {
  ++counters_.records;
  // Which of them comes next cannot be predicted, and to branch by it would cost a processor more
  // than all else of a call does.
  const Activity kind = record.kind();
  if (kind == Activity::kRuntime || kind == Activity::kDriver) return TakeCall(record, names);
  switch (kind) {
    case Activity::kConcurrentKernel:
      return TakeKernel(record);
    case Activity::kMemcpy:
      return TakeCopy(record);
    case Activity::kMemcpy2:
      return TakePeerCopy(record);
    case Activity::kMemset:
      return TakeSet(record);
    case Activity::kSynchronization:
      return TakeWait(record);
    case Activity::kCudaEvent:
      return TakeEvent(record);
    case Activity::kMemory2:
      return TakeMemory(record);
    case Activity::kMemoryPool:
      return TakePool(record);
    case Activity::kGraphTrace:
      return TakeGraphLaunch(record);
    case Activity::kDevice:
      return devices_.TakeDevice(record);
    case Activity::kContext:
      return devices_.TakeContext(record);
    case Activity::kStream:
      return TakeStream(record);
    case Activity::kOverhead:
      return TakeOverhead(record);
    case Activity::kJit:
      return TakeJit(record);
    case Activity::kUnifiedMemoryCounter:
      return TakeUnifiedMemory(record);
    case Activity::kHostLaunch:
      return TakeHostLaunch(record);
    case Activity::kGraphHostNode:
      return TakeGraphHostNode(record);
    default:
      ++counters_.unknown;
  }
}

bool ActivitySorter::HasTimes(uint64_t start, uint64_t end) {
  if (start == 0 && end == 0) {
    ++counters_.without_times;
    return false;
  }
  if (end < start) {
    ++counters_.unfinished;
    return false;
  }
  return true;
}

bool ActivitySorter::HasWorkTimes(uint64_t start, uint64_t end) {
  if (!HasTimes(start, end)) return false;
  if (start >= earliest_) return true;
  ++counters_.unfinished;
  return false;
}

[[gnu::always_inline]] inline void ActivitySorter::AppendKernel(const Record& record,
                                                                uint8_t device_launched) {
  const uint64_t start = record.U64(kernel::kStart), end = record.U64(kernel::kEnd);
  if (!HasWorkTimes(start, end)) return;
  const char* text = record.Text(kernel::kName);
  const uint32_t name = names_.Id(text);
  Stream* stream = StreamOf(record.U32(kernel::kDevice), record.U32(kernel::kContext),
                            record.U32(kernel::kStream));
  const uint64_t row[] = {end,
                          end - start,
                          signatures_.Intern(SignatureOf(record, name, device_launched), text),
                          record.U32(kernel::kCorrelation),
                          record.U32(kernel::kGraph),
                          record.U64(kernel::kGraphNode)};
  if (row[4] != 0) graphs_.SawNode(record.U32(kernel::kGraph), row[5]);
  const RateBudget::Class of = ClassOf(row[4]);
  AppendChosen<ChunkKind::kKernel>(of, row[3], stream, row);
}

void ActivitySorter::TakeKernel(const Record& record) {
  ++counters_.kernels;
  const uint8_t device_launched = record.U8(kernel::kDeviceLaunched);
  if (record.bytes() >= kKernelBytes)
    return AppendKernel(record.First(kKernelBytes), device_launched);
  AppendKernel(record, device_launched);
}

void ActivitySorter::TakeCopy(const Record& record) {
  const uint64_t start = record.U64(copy::kStart), end = record.U64(copy::kEnd);
  if (!HasWorkTimes(start, end)) return;
  Stream* stream =
      StreamOf(record.U32(copy::kDevice), record.U32(copy::kContext), record.U32(copy::kStream));
  const uint64_t row[] = {
      end,
      end - start,
      proto::CopyOperation(record.U8(copy::kCopyKind), record.U8(copy::kSourceKind),
                           record.U8(copy::kDestinationKind), record.U8(copy::kFlags)),
      record.U32(copy::kCorrelation),
      record.U64(copy::kBytes),
      record.U32(copy::kGraph),
      record.U64(copy::kGraphNode),
      0};
  if (row[5] != 0) graphs_.SawNode(record.U32(copy::kGraph), row[6]);
  const RateBudget::Class of = ClassOf(row[5]);
  AppendChosen<ChunkKind::kMemcpy>(of, row[3], stream, row);
}

void ActivitySorter::TakePeerCopy(const Record& record) {
  const uint64_t start = record.U64(copy::kStart), end = record.U64(copy::kEnd);
  if (!HasWorkTimes(start, end)) return;
  Stream* stream =
      StreamOf(record.U32(copy::kDevice), record.U32(copy::kContext), record.U32(copy::kStream));
  const uint64_t from = record.U32(peer_copy::kSourceDevice) + uint64_t{1};
  const uint64_t to = record.U32(peer_copy::kDestinationDevice) + uint64_t{1};
  const uint64_t row[] = {
      end,
      end - start,
      proto::CopyOperation(record.U8(copy::kCopyKind), record.U8(copy::kSourceKind),
                           record.U8(copy::kDestinationKind), record.U8(copy::kFlags)),
      record.U32(peer_copy::kCorrelation),
      record.U64(copy::kBytes),
      record.U32(peer_copy::kGraph),
      record.U64(peer_copy::kGraphNode),
      from | to << 32};
  if (row[5] != 0) graphs_.SawNode(record.U32(peer_copy::kGraph), row[6]);
  const RateBudget::Class of = ClassOf(row[5]);
  AppendChosen<ChunkKind::kMemcpy>(of, row[3], stream, row);
}

void ActivitySorter::TakeSet(const Record& record) {
  const uint64_t start = record.U64(set::kStart), end = record.U64(set::kEnd);
  if (!HasWorkTimes(start, end)) return;
  Stream* stream =
      StreamOf(record.U32(set::kDevice), record.U32(set::kContext), record.U32(set::kStream));
  const auto memory_kind = static_cast<uint8_t>(record.U16(set::kMemoryKind));
  const auto flags = static_cast<uint8_t>(record.U16(set::kFlags));
  const uint64_t row[] = {end,
                          end - start,
                          proto::CopyOperation(0, 0, memory_kind, flags),
                          record.U32(set::kCorrelation),
                          record.U64(set::kBytes),
                          record.U32(set::kGraph),
                          record.U64(set::kGraphNode),
                          record.U32(set::kValue)};
  if (row[5] != 0) graphs_.SawNode(record.U32(set::kGraph), row[6]);
  const RateBudget::Class of = ClassOf(row[5]);
  AppendChosen<ChunkKind::kMemset>(of, row[3], stream, row);
}

void ActivitySorter::TakeCall(const Record& record, const FunctionNames& names) {
  const bool is_runtime = record.kind() == Activity::kRuntime;
  const Domain domain = is_runtime ? kRuntimeApi : kDriverApi;
  std::vector<ApiCall>* calls = is_runtime ? &calls_of_runtime_ : &calls_of_driver_;
  const uint32_t id = record.U32(api::kCallbackId);
  // A library that cannot leave out single functions records them all.
  if (!names.IsRecorded(domain, id)) return;
  // In its place: one that is made elsewhere and copied costs more than all its fields.
  ApiCall& call = calls->emplace_back();
  if (record.bytes() >= kApiBytes) {
    ReadCall(record.First(kApiBytes), proto::ApiFunction(domain, id), &call);
  } else {
    ReadCall(record, proto::ApiFunction(domain, id), &call);
  }
  if (!HasTimes(call.start, call.end)) calls->pop_back();
}

void ActivitySorter::Release(uint64_t now, uint64_t ticks_per_second, bool all,
                             const FunctionNames& names) {
  // Longer than what CUPTI holds back for work that still runs.
  constexpr uint64_t kMostSeconds = 10;
  const uint64_t limit = kMostSeconds * ticks_per_second;
  released_.clear();
  driver_calls_.Release(now, limit, all, &released_);
  for (const ApiCall& call : released_) AppendCall(call, names);
  // A call of the driver's may have waited for as long before it came here.
  recordings_.clear();
  counters_.without_times += event_times_.Release(now, 2 * limit, all, &recordings_);
  for (const EventRecording& recording : recordings_) AppendEvent(recording);
}

void ActivitySorter::NameFunction(uint32_t function, const FunctionNames& names) {
  // proto::ApiFunction's two halves.
  const uint32_t domain = function >> 24, id = function & 0xffffff;
  // A callback id of more than 24 bits runs into the domain.
  if (domain >= std::size(names.name) || id >= FunctionNames::kMost) return;
  const size_t place = domain * FunctionNames::kMost + id;
  if (known_functions_.empty())
    known_functions_.resize(std::size(names.name) * FunctionNames::kMost);
  if (names.name[domain][id] == nullptr) return;
  last_function_ = function;
  if (known_functions_[place]) return;
  known_functions_[place] = true;
  const char* name = names.name[domain][id];
  new_functions_.emplace_back(function,
                              strings_->InternText(name, static_cast<uint32_t>(strlen(name))));
}

void ActivitySorter::AppendCall(const ApiCall& call, const FunctionNames& names) {
  if (call.function != last_function_) NameFunction(call.function, names);
  if (names.IsEventRecord(call.function)) event_times_.TakeCall(call.correlation, call.start);
  // When it ended, the thread was known to us if it ever was.
  CallingThread* thread = threads_.Of(call.tid, call.end);
  const uint64_t row[] = {call.end, call.end - call.start, call.function, call.correlation,
                          call.result};
  AppendChosen(RateBudget::kCalls, row[3], &thread->calls, ChunkKind::kApi, thread->track, row);
}

void ActivitySorter::TakeWait(const Record& record) {
  const uint64_t start = record.U64(sync::kStart), end = record.U64(sync::kEnd);
  if (!HasTimes(start, end)) return;
  const uint32_t context = record.U32(sync::kContext);
  Stream* stream = StreamOf(DeviceOf(context), context, record.U32(sync::kStream));
  const uint32_t type = record.U32(sync::kType);
  const bool is_for_event = type == sync::kForEvent || type == sync::kStreamForEvent;
  const uint64_t row[] = {end,
                          end - start,
                          type,
                          record.U32(sync::kCorrelation),
                          record.U32(sync::kStream),
                          record.U32(sync::kEvent),
                          record.U32(sync::kResult),
                          is_for_event ? RecordingOf(record.U64(sync::kEventRecord)) : 0};
  AppendChosen<ChunkKind::kSync>(RateBudget::kCalls, row[3], stream, row);
}

void ActivitySorter::TakeEvent(const Record& record) {
  // Its end is what older libraries leave out.
  const bool tells_device = record.bytes() > cuda_event::kRecord;
  event_times_.Take({.correlation = record.U32(cuda_event::kCorrelation),
                     .device = tells_device ? record.U32(cuda_event::kDevice) : kNoId,
                     .context = record.U32(cuda_event::kContext),
                     .stream = record.U32(cuda_event::kStream),
                     .event = record.U32(cuda_event::kEvent),
                     .record = RecordingOf(record.U64(cuda_event::kRecord))});
}

void ActivitySorter::AppendEvent(const EventRecording& recording) {
  const uint32_t device =
      recording.device != kNoId ? recording.device : DeviceOf(recording.context);
  Stream* stream = StreamOf(device, recording.context, recording.stream);
  const uint64_t row[] = {recording.time, recording.correlation, recording.event, recording.record};
  AppendChosen<ChunkKind::kCudaEvent>(RateBudget::kCalls, recording.correlation, stream, row);
}

// One that begins on the host tells where it ended.
void ActivitySorter::TakeGraphLaunch(const Record& record) {
  const uint64_t start = record.U64(graph_trace::kStart), end = record.U64(graph_trace::kEnd);
  if (!HasWorkTimes(start, end)) return;
  uint32_t device = record.U32(graph_trace::kDevice);
  uint32_t context = record.U32(graph_trace::kContext);
  if (context == graph_trace::kOnHost) {
    device = record.U32(graph_trace::kEndDevice);
    context = record.U32(graph_trace::kEndContext);
  }
  if (device == graph_trace::kOnHost) device = kNoId;
  Stream* stream = StreamOf(device, context, record.U32(graph_trace::kStream));
  const uint64_t row[] = {end, end - start, record.U32(graph_trace::kGraph),
                          record.U32(graph_trace::kCorrelation)};
  AppendChosen<ChunkKind::kGraphLaunch>(RateBudget::kCalls, row[3], stream, row);
}

// On the track of the stream that waits for the function.
void ActivitySorter::TakeHostLaunch(const Record& record) {
  const uint64_t start = record.U64(host_launch::kStart), end = record.U64(host_launch::kEnd);
  if (!HasWorkTimes(start, end)) return;
  Stream* stream = StreamOf(record.U32(host_launch::kDevice), record.U32(host_launch::kContext),
                            record.U32(host_launch::kStream));
  const uint64_t row[] = {
      end, end - start, record.U32(host_launch::kThread), record.U32(host_launch::kCorrelation), 0,
      0};
  AppendChosen<ChunkKind::kHostFunction>(RateBudget::kCalls, row[3], stream, row);
}

void ActivitySorter::TakeGraphHostNode(const Record& record) {
  namespace node = graph_host_node;
  const uint64_t start = record.U64(node::kStart), end = record.U64(node::kEnd);
  if (!HasWorkTimes(start, end)) return;
  Stream* stream =
      StreamOf(record.U32(node::kDevice), record.U32(node::kContext), record.U32(node::kStream));
  const uint64_t row[] = {end,
                          end - start,
                          record.U32(node::kThread),
                          record.U32(node::kCorrelation),
                          record.U32(node::kGraph),
                          record.U64(node::kGraphNode)};
  if (row[4] != 0) graphs_.SawNode(record.U32(node::kGraph), row[5]);
  AppendChosen<ChunkKind::kHostFunction>(ClassOf(row[4]), row[3], stream, row);
}

// Of no thread: on its device's track, or, where none is told either, on that of no device.
void ActivitySorter::TakeOverhead(const Record& record) {
  if (owns_data_) FreeData(record);
  const uint64_t start = record.U64(overhead::kStart), end = record.U64(overhead::kEnd);
  if (!HasTimes(start, end)) return;
  const uint64_t row[] = {end, end - start, proto::OverheadOperation(record.U32(overhead::kKind)),
                          record.U32(overhead::kCorrelation), 0};
  const uint32_t object = record.U32(overhead::kObjectKind);
  if (object == kObjectThread) {
    CallingThread* thread = threads_.Of(record.U32(overhead::kThread), end);
    return Append(&thread->overheads, ChunkKind::kOverhead, thread->track, row);
  }
  const bool has_device = object >= kObjectDevice && object <= kObjectStream;
  Stream* of_device = StreamOf(has_device ? record.U32(overhead::kObject) : kNoId, kNoId, kNoId);
  Append<ChunkKind::kOverhead>(of_device, row);
}

void ActivitySorter::TakeJit(const Record& record) {
  const uint64_t start = record.U64(jit::kStart), end = record.U64(jit::kEnd);
  if (!HasTimes(start, end)) return;
  const uint64_t row[] = {end, end - start,
                          proto::JitOperation(record.U32(jit::kEntry), record.U32(jit::kOperation)),
                          record.U32(jit::kCorrelation), record.U64(jit::kCacheBytes)};
  // Before 12.4 it does not tell the thread.
  if (const uint32_t tid = record.U32(jit::kThread); tid != 0) {
    CallingThread* thread = threads_.Of(tid, end);
    return Append(&thread->overheads, ChunkKind::kOverhead, thread->track, row);
  }
  Stream* of_device = StreamOf(record.U32(jit::kDevice), kNoId, kNoId);
  Append<ChunkKind::kOverhead>(of_device, row);
}

// Between two places, either of which may be the host: on the track of no device.
void ActivitySorter::TakeUnifiedMemory(const Record& record) {
  const uint32_t counter = record.U32(um::kCounter);
  const uint64_t start = record.U64(um::kStart);
  const bool is_moment =
      counter == um::kCpuPageFault || counter == um::kThrashing || counter == um::kRemoteMap;
  const uint64_t end = is_moment ? start : record.U64(um::kEnd);
  if (!HasTimes(start, end)) return;
  const uint64_t row[] = {end,
                          end - start,
                          proto::UnifiedMemoryOperation(counter, record.U32(um::kFlags)),
                          record.U64(um::kValue),
                          record.U64(um::kAddress),
                          record.U32(um::kSource),
                          record.U32(um::kDestination)};
  Stream* of_none = StreamOf(kNoId, kNoId, kNoId);
  Append<ChunkKind::kUnifiedMemory>(of_none, row);
}

void ActivitySorter::TakeMemory(const Record& record) {
  const uint64_t time = record.U64(memory::kTime);
  if (!HasTimes(time, time)) return;
  const char* origin = OriginOf(record);
  const uint32_t device = record.U32(memory::kDevice);
  Stream* stream = StreamOf(device, record.U32(memory::kContext), record.U32(memory::kStream));
  const MemoryRow row = DeviceMemoryRow(record, origin != nullptr ? names_.Id(origin) : 0);
  Append<ChunkKind::kDeviceMemory>(stream, row.column);
  if (!TellsOfPool(record)) return;
  Stream* of_device = StreamOf(device, kNoId, kNoId);
  Append<ChunkKind::kMemoryPool>(of_device, PoolSeenRow(record).column);
}

void ActivitySorter::TakePool(const Record& record) {
  const uint64_t time = record.U64(pool::kTime);
  if (!HasTimes(time, time)) return;
  Stream* of_device = StreamOf(record.U32(pool::kDevice), kNoId, kNoId);
  Append<ChunkKind::kMemoryPool>(of_device, PoolRow(record).column);
}

void ActivitySorter::TakeStream(const Record& record) {
  const DeviceRecords::Stream* told = devices_.TakeStream(record);
  if (told != nullptr) streams_.Renew(told->context, told->id);
}

void ActivitySorter::TakeHandles(StreamEvents* events) {
  for (StreamEvent event; events->Take(&event);) {
    if (devices_.TakeHandle(event)) streams_.Renew(event.context, event.stream);
  }
}

void ActivitySorter::TakeContexts(ContextEvents* events) {
  for (ContextEvent event; events->Take(&event);) devices_.TakeContextEvent(event);
}

// A context is of one device, which its own record tells, or its kernels and copies.
uint32_t ActivitySorter::DeviceOf(uint32_t context) const {
  if (const uint32_t told = devices_.DeviceOf(context); told != kNoId) return told;
  return streams_.DeviceOf(context);
}

void ActivitySorter::RowsAreWritten() {
  rows_ = 0;
  unused_.clear();
  streams_.RowsAreWritten(&unused_);
  threads_.RowsAreWritten(&unused_);
  unused_.insert(unused_.end(), late_.begin(), late_.end());
  late_.clear();
  if (unused_.empty()) return;
  std::sort(unused_.begin(), unused_.end());
  std::erase_if(buffers_, [this](const auto& buffer) {
    return std::binary_search(unused_.begin(), unused_.end(), buffer.get());
  });
}

codec::SpanBuffer* ActivitySorter::NewBuffer(ChunkKind kind, uint32_t track) {
  buffers_.push_back(std::make_unique<codec::SpanBuffer>(kind, track));
  return buffers_.back().get();
}

void ActivitySorter::Append(codec::SpanBuffer** buffer, ChunkKind kind, uint32_t track,
                            const uint64_t* row) {
  BufferOf(buffer, kind, track)->Append(row);
  ++rows_;
}

// Rows of one chunk stand for equally many records, and these are for more or fewer than those that
// wait already. Where N has changed there are few, and often the last one again.
codec::SpanBuffer* ActivitySorter::LateBuffer(ChunkKind kind, uint32_t track, uint32_t one_in) {
  const auto is_it = [&](const codec::SpanBuffer* buffer) {
    return buffer->kind() == kind && buffer->track() == track && buffer->sampled_one_in() == one_in;
  };
  const auto found = std::find_if(late_.rbegin(), late_.rend(), is_it);
  if (found != late_.rend()) return *found;
  codec::SpanBuffer* made = NewBuffer(kind, track);
  made->SetSampledOneIn(one_in);
  late_.push_back(made);
  return made;
}

uint32_t ActivitySorter::TakeFunctions(std::vector<uint8_t>* out) {
  codec::PbWriter writer(out);
  for (const auto& [function, name] : new_functions_) {
    writer.Varint(1, function);
    writer.Varint(2, name);
  }
  const auto count = static_cast<uint32_t>(new_functions_.size());
  new_functions_.clear();
  return count;
}

uint64_t ActivitySorter::memory_bytes() const {
  uint64_t bytes =
      signatures_.memory_bytes() + driver_calls_.memory_bytes() + event_times_.memory_bytes() +
      streams_.memory_bytes() + threads_.memory_bytes() +
      (calls_of_runtime_.capacity() + calls_of_driver_.capacity() + released_.capacity()) *
          sizeof(ApiCall) +
      recordings_.capacity() * sizeof(EventRecording);
  bytes += buffers_.capacity() * sizeof(buffers_[0]) + unused_.capacity() * sizeof(unused_[0]);
  for (const auto& buffer : buffers_) bytes += buffer->memory_bytes();
  return bytes;
}

}  // namespace gpuprof::tracer::cupti
