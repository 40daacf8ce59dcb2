// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Tasks nest within a thread and a domain, as pushed ranges of NVTX do; overlapped tasks, regions,
// frames and events begin and end wherever they like, as started ranges do; one that begins again
// before its end goes on, so that an event without an end is one open range. Frames have no name of
// their own. Times that the program gives itself (the _ex functions, frame_submit), counters,
// metadata, relations and synchronisation objects are not taken, and pause and resume stop nothing.

#include "inject/itt/callbacks.h"

#include <string.h>

#include "inject/itt/abi.h"
#include "inject/itt/handles.h"
#include "inject/marked_captures.h"
#include "inject/ranges/named.h"
#include "inject/ranges/ranges.h"
#include "inject/raw_syscall.h"
#include "inject/state.h"

namespace gpuprof::inject::itt {
namespace {

using ranges::Event;
using ranges::Message;
using ranges::Text;

bool IsRecording() { return Recording(proto::kSourceItt); }

Message MessageOf(Text* text) { return {ranges::kRegistered, text}; }

Event EventIn(Domain* domain, const Message& message) {
  Event event;
  event.domain = TextOf(domain);
  event.message = message;
  return event;
}

// What tells started ranges apart: numbers that no counter reaches.
enum Sort : uint64_t { kOverlapped = 1, kRegion, kFrame, kEvent };

uint64_t KeyOf(Sort sort, const void* domain, unsigned long long first, unsigned long long second) {
  constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15u;
  uint64_t key = sort;
  for (const uint64_t part :
       {reinterpret_cast<uint64_t>(domain), uint64_t{first}, uint64_t{second}}) {
    key = (key ^ part) * kMultiplier;
    key ^= key >> 29;
  }
  return (key >> 2) | uint64_t{1} << 62;
}

// Domains of one name are one, whatever stands for them.
uint64_t KeyOf(Sort sort, Domain* domain, const Id& id) {
  return KeyOf(sort, TextOf(domain), id.d1, id.d2);
}

// A capture may have to begin before the range does (inject/marked_captures.h), and to end behind
// it.

void Pushed(const Event& event) {
  if (WatchesRanges()) RangePushed(event.domain, event.message);
  if (IsRecording()) ranges::Push(event);
}

void Popped(Text* domain) {
  if (IsRecording()) ranges::Pop(domain);
  if (WatchesRanges()) RangePopped(domain);
}

// What is open already goes on: that is how ITT has it, and nothing piles up that never ends.
void StartOnce(const Event& event, uint64_t key) {
  const bool is_mark = WatchesRanges() && RangeStarting(event.domain, event.message);
  if (IsRecording() && !ranges::IsStarted(key)) ranges::Start(event, key);
  if (is_mark) RangeStartedAs(key);
}

void Ended(uint64_t key) {
  if (IsRecording()) ranges::End(key);
  if (WatchesRanges()) RangeEnded(key);
}

// Returns whether anybody wants to know about ranges.
bool IsWanted() { return IsRecording() || WatchesRanges(); }

Domain* OnDomainCreate(const char* name) { return name == nullptr ? nullptr : DomainOf(name); }
StringHandle* OnStringHandleCreate(const char* text) {
  return text == nullptr ? nullptr : StringOf(text);
}

void OnTaskBegin(Domain* domain, Id, Id, StringHandle* name) {
  if (IsWanted()) Pushed(EventIn(domain, MessageOf(TextOf(name))));
}

// The function's address stands for its name.
void OnTaskBeginFunction(Domain* domain, Id, Id, void* function) {
  if (!IsWanted()) return;
  char name[2 + 16 + 1] = "0x";
  const auto address = reinterpret_cast<uint64_t>(function);
  for (int i = 0; i < 16; ++i) name[2 + i] = "0123456789abcdef"[address >> (60 - 4 * i) & 15];
  name[18] = 0;
  Pushed(EventIn(domain, ranges::Ascii(name)));
}

void OnTaskEnd(Domain* domain) {
  if (IsWanted()) Popped(TextOf(domain));
}

template <Sort kSort>
void OnBegin(Domain* domain, Id id, Id, StringHandle* name) {
  if (!IsWanted()) return;
  StartOnce(EventIn(domain, MessageOf(TextOf(name))), KeyOf(kSort, domain, id));
}

template <Sort kSort>
void OnEnd(Domain* domain, Id id) {
  if (IsWanted()) Ended(KeyOf(kSort, domain, id));
}

void OnFrameBegin(Domain* domain, Id* id) {
  if (!IsWanted()) return;
  StartOnce(EventIn(domain, ranges::Ascii("frame")),
            KeyOf(kFrame, domain, id != nullptr ? *id : Id{}));
}

void OnFrameEnd(Domain* domain, Id* id) {
  if (IsWanted()) Ended(KeyOf(kFrame, domain, id != nullptr ? *id : Id{}));
}

void OnMarker(Domain* domain, Id, StringHandle* name, int) {
  if (IsRecording()) ranges::Mark(EventIn(domain, MessageOf(TextOf(name))));
}

void OnThreadSetName(const char* name) {
  const auto tid = static_cast<uint64_t>(raw::Call(SYS_gettid));
  ranges::Name(proto::RangeKind::kNameThread, nullptr, tid, ranges::Ascii(name));
}

int OnEventCreate(const char* name, int bytes) {
  char text[proto::kMostNameBytes];
  if (name == nullptr || bytes < 0) return 0;
  const size_t length =
      strnlen(name, static_cast<size_t>(bytes) < sizeof(text) - 1 ? static_cast<size_t>(bytes)
                                                                  : sizeof(text) - 1);
  memcpy(text, name, length);
  text[length] = 0;
  return EventOf(ranges::Intern(ranges::Ascii(text)));
}

uint64_t KeyOfEvent(int event) {
  return KeyOf(kEvent, nullptr, static_cast<unsigned>(event),
               static_cast<unsigned long long>(raw::Call(SYS_gettid)));
}

int OnEventStart(int event) {
  if (IsWanted()) StartOnce(EventIn(nullptr, MessageOf(TextOfEvent(event))), KeyOfEvent(event));
  return 0;
}

int OnEventEnd(int event) {
  if (IsWanted()) Ended(KeyOfEvent(event));
  return 0;
}

template <typename F>
void* Plain(F function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

void* CallbackOf(const char* name) noexcept {
  constexpr char kPrefix[] = "__itt_";
  constexpr size_t kPrefixBytes = sizeof(kPrefix) - 1;
  if (strncmp(name, kPrefix, kPrefixBytes) != 0) return nullptr;
  const auto is = [own = name + kPrefixBytes](const char* ours) { return strcmp(own, ours) == 0; };
  if (is("domain_create")) return Plain(OnDomainCreate);
  if (is("string_handle_create")) return Plain(OnStringHandleCreate);
  if (is("task_begin")) return Plain(OnTaskBegin);
  if (is("task_begin_fn")) return Plain(OnTaskBeginFunction);
  if (is("task_end")) return Plain(OnTaskEnd);
  if (is("task_begin_overlapped")) return Plain(OnBegin<kOverlapped>);
  if (is("task_end_overlapped")) return Plain(OnEnd<kOverlapped>);
  if (is("region_begin")) return Plain(OnBegin<kRegion>);
  if (is("region_end")) return Plain(OnEnd<kRegion>);
  if (is("frame_begin_v3")) return Plain(OnFrameBegin);
  if (is("frame_end_v3")) return Plain(OnFrameEnd);
  if (is("marker")) return Plain(OnMarker);
  if (is("thread_set_name")) return Plain(OnThreadSetName);
  if (is("event_create")) return Plain(OnEventCreate);
  if (is("event_start")) return Plain(OnEventStart);
  if (is("event_end")) return Plain(OnEventEnd);
  return nullptr;
}

}  // namespace gpuprof::inject::itt
