// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/nvtx/callbacks.h"

#include <atomic>

#include "inject/marked_captures.h"
#include "inject/nvtx/payloads.h"
#include "inject/ranges/named.h"
#include "inject/ranges/ranges.h"
#include "inject/state.h"

namespace gpuprof::inject::nvtx {
namespace {

using proto::RangeKind;
using ranges::Ascii;
using ranges::BindHandle;
using ranges::End;
using ranges::Event;
using ranges::Intern;
using ranges::kNoTracking;
using ranges::Mark;
using ranges::Message;
using ranges::Name;
using ranges::Pop;
using ranges::Push;
using ranges::Start;
using ranges::Text;
using ranges::TextOf;
using ranges::Wide;

std::atomic<Function> g_chained[kModules][kMostIds];
std::atomic<uint32_t> g_has_tool{0};

template <typename F>
F Chained(int module, unsigned id) {
  return reinterpret_cast<F>(g_chained[module][id].load(std::memory_order_acquire));
}

// What NVTX would have done had the tool been there alone: its function, or nothing.
template <typename F, typename... Arguments>
auto CallChained(int module, unsigned id, decltype(F{}(Arguments{}...)) otherwise,
                 Arguments... arguments) {
  const F function = Chained<F>(module, id);
  return function != nullptr ? function(arguments...) : otherwise;
}

template <typename... Arguments>
void TellChained(int module, unsigned id, Arguments... arguments) {
  const auto function = Chained<void (*)(Arguments...)>(module, id);
  if (function != nullptr) function(arguments...);
}

bool IsRecording() { return Recording(proto::kSourceNvtx); }

Event EventOf(const void* domain, const Message& message) {
  Event event;
  event.domain = TextOf(domain);
  event.message = message;
  return event;
}

// Attributes of a size that is not known are those of nobody.
Event EventOf(const void* domain, const EventAttributes* from) {
  Event event;
  event.domain = TextOf(domain);
  if (from == nullptr || from->size < sizeof(EventAttributes)) return event;
  event.message = {from->message_type, from->message};
  const uint64_t color = from->color_type == kArgb ? from->color : 0;
  event.style = color << 32 | from->category;
  const bool is_number = from->payload_type > 0 &&
                         from->payload_type <= static_cast<int32_t>(proto::NvtxPayload::kFloat);
  if (is_number) {
    event.payload_type = static_cast<uint32_t>(from->payload_type);
    event.payload = from->payload;
    const bool is_wide = from->payload_type <= static_cast<int32_t>(proto::NvtxPayload::kDouble);
    if (!is_wide) event.payload &= 0xffffffffu;
  }
  return event;
}

bool HasExtendedPayload(const EventAttributes* from) {
  return from != nullptr && from->size >= sizeof(EventAttributes) &&
         from->payload_type == kExtendedPayload;
}

// Records an event with extended payloads. Apart, so that other calls need no room for payloads.
template <auto kRecord, typename... Chained>
[[gnu::noinline]] auto RecordExtended(const void* domain, const EventAttributes& from,
                                      Chained... chained) {
  Event event = EventOf(domain, &from);
  ranges::Payloads payloads;
  FindPayloads(event.domain, reinterpret_cast<const PayloadData*>(from.payload),
               from.reserved > 0 ? static_cast<uint64_t>(from.reserved) : 0, &payloads);
  event.payloads = &payloads;
  return kRecord(chained..., event);
}

// kRecord: Mark, PushOf or StartOf.
template <auto kRecord, typename... Chained>
auto RecordEvent(const void* domain, const EventAttributes* from, Chained... chained) {
  if (__builtin_expect(HasExtendedPayload(from), 0))
    return RecordExtended<kRecord>(domain, *from, chained...);
  return kRecord(chained..., EventOf(domain, from));
}

Message MessageIn(const EventAttributes* from) {
  if (from == nullptr || from->size < sizeof(EventAttributes)) return {};
  return {from->message_type, from->message};
}

// A capture may have to begin before the range does (inject/marked_captures.h), and to end behind
// it.

template <typename Record>
int Pushed(const void* domain, const Message& message, int chained, Record record) {
  if (WatchesRanges()) RangePushed(TextOf(domain), message);
  return IsRecording() ? record(chained) : chained;
}

int Popped(const void* domain, int chained) {
  int level = kNoTracking;
  const bool is_recorded = IsRecording();
  if (is_recorded) level = Pop(TextOf(domain));
  if (WatchesRanges()) RangePopped(TextOf(domain));
  return is_recorded && !HasTool() ? level : chained;
}

template <typename Record>
uint64_t Started(const void* domain, const Message& message, uint64_t chained, Record record) {
  const bool is_mark = WatchesRanges() && RangeStarting(TextOf(domain), message);
  const uint64_t id = IsRecording() ? record(chained) : chained;
  if (is_mark) RangeStartedAs(id);
  return id;
}

void Ended(uint64_t id) {
  if (IsRecording()) End(id);
  if (WatchesRanges()) RangeEnded(id);
}

// Calls with a text of either kind of characters. They share their code, because the preload is in
// every process. A chained tool's function gets the text in the same register for either kind.

[[gnu::noinline]] void MarkText(unsigned id, Message message) {
  TellChained(kCore, id, message.text);
  if (IsRecording()) Mark(EventOf(nullptr, message));
}
[[gnu::noinline]] uint64_t StartText(unsigned id, Message message) {
  const auto started = CallChained<uint64_t (*)(const void*)>(kCore, id, 0, message.text);
  return Started(nullptr, message, started,
                 [&](uint64_t chained) { return StartOf(chained, EventOf(nullptr, message)); });
}
[[gnu::noinline]] int PushText(unsigned id, Message message) {
  const auto level = CallChained<int (*)(const void*)>(kCore, id, kNoTracking, message.text);
  return Pushed(nullptr, message, level,
                [&](int chained) { return PushOf(chained, EventOf(nullptr, message)); });
}
[[gnu::noinline]] void NameNumber(int module, unsigned id, RangeKind kind, uint64_t number,
                                  Message message) {
  TellChained(module, id, number, message.text);
  Name(kind, nullptr, number, message);
}

// --- CORE

void OnMarkEx(const EventAttributes* attributes) {
  TellChained(kCore, kMarkEx, attributes);
  if (IsRecording()) RecordEvent<Mark>(nullptr, attributes);
}
void OnMarkA(const char* message) { MarkText(kMarkA, Ascii(message)); }
void OnMarkW(const wchar_t* message) { MarkText(kMarkW, Wide(message)); }

uint64_t OnRangeStartEx(const EventAttributes* attributes) {
  const uint64_t id =
      CallChained<uint64_t (*)(const EventAttributes*)>(kCore, kRangeStartEx, 0, attributes);
  return Started(nullptr, MessageIn(attributes), id, [=](uint64_t chained) {
    return RecordEvent<StartOf>(nullptr, attributes, chained);
  });
}
uint64_t OnRangeStartA(const char* message) { return StartText(kRangeStartA, Ascii(message)); }
uint64_t OnRangeStartW(const wchar_t* message) { return StartText(kRangeStartW, Wide(message)); }
void OnRangeEnd(uint64_t id) {
  TellChained(kCore, kRangeEnd, id);
  Ended(id);
}

int OnRangePushEx(const EventAttributes* attributes) {
  const int level =
      CallChained<int (*)(const EventAttributes*)>(kCore, kRangePushEx, kNoTracking, attributes);
  return Pushed(nullptr, MessageIn(attributes), level,
                [=](int chained) { return RecordEvent<PushOf>(nullptr, attributes, chained); });
}
int OnRangePushA(const char* message) { return PushText(kRangePushA, Ascii(message)); }
int OnRangePushW(const wchar_t* message) { return PushText(kRangePushW, Wide(message)); }
int OnRangePop() { return Popped(nullptr, CallChained<int (*)()>(kCore, kRangePop, kNoTracking)); }

void OnNameCategoryA(uint32_t category, const char* name) {
  NameNumber(kCore, kNameCategoryA, RangeKind::kNameCategory, category, Ascii(name));
}
void OnNameCategoryW(uint32_t category, const wchar_t* name) {
  NameNumber(kCore, kNameCategoryW, RangeKind::kNameCategory, category, Wide(name));
}
void OnNameOsThreadA(uint32_t tid, const char* name) {
  NameNumber(kCore, kNameOsThreadA, RangeKind::kNameThread, tid, Ascii(name));
}
void OnNameOsThreadW(uint32_t tid, const wchar_t* name) {
  NameNumber(kCore, kNameOsThreadW, RangeKind::kNameThread, tid, Wide(name));
}

// --- CORE2

void OnDomainMarkEx(const void* domain, const EventAttributes* attributes) {
  TellChained(kCore2, kDomainMarkEx, domain, attributes);
  if (IsRecording()) RecordEvent<Mark>(domain, attributes);
}
uint64_t OnDomainRangeStartEx(const void* domain, const EventAttributes* attributes) {
  const uint64_t id = CallChained<uint64_t (*)(const void*, const EventAttributes*)>(
      kCore2, kDomainRangeStartEx, 0, domain, attributes);
  return Started(domain, MessageIn(attributes), id, [=](uint64_t chained) {
    return RecordEvent<StartOf>(domain, attributes, chained);
  });
}
void OnDomainRangeEnd(const void* domain, uint64_t id) {
  TellChained(kCore2, kDomainRangeEnd, domain, id);
  Ended(id);
}
int OnDomainRangePushEx(const void* domain, const EventAttributes* attributes) {
  const int level = CallChained<int (*)(const void*, const EventAttributes*)>(
      kCore2, kDomainRangePushEx, kNoTracking, domain, attributes);
  return Pushed(domain, MessageIn(attributes), level,
                [=](int chained) { return RecordEvent<PushOf>(domain, attributes, chained); });
}
int OnDomainRangePop(const void* domain) {
  return Popped(domain,
                CallChained<int (*)(const void*)>(kCore2, kDomainRangePop, kNoTracking, domain));
}

void OnDomainNameCategoryA(const void* domain, uint32_t category, const char* name) {
  TellChained(kCore2, kDomainNameCategoryA, domain, category, name);
  Name(RangeKind::kNameCategory, TextOf(domain), category, Ascii(name));
}
void OnDomainNameCategoryW(const void* domain, uint32_t category, const wchar_t* name) {
  TellChained(kCore2, kDomainNameCategoryW, domain, category, name);
  Name(RangeKind::kNameCategory, TextOf(domain), category, Wide(name));
}

const void* HandleOf(const void* chained, const Message& message) {
  Text* text = Intern(message);
  if (!HasTool()) return text;
  BindHandle(chained, text);
  return chained;
}

const void* OnDomainRegisterStringA(const void* domain, const char* string) {
  return HandleOf(CallChained<const void* (*)(const void*, const char*)>(
                      kCore2, kDomainRegisterStringA, nullptr, domain, string),
                  Ascii(string));
}
const void* OnDomainRegisterStringW(const void* domain, const wchar_t* string) {
  return HandleOf(CallChained<const void* (*)(const void*, const wchar_t*)>(
                      kCore2, kDomainRegisterStringW, nullptr, domain, string),
                  Wide(string));
}
const void* OnDomainCreateA(const char* name) {
  return HandleOf(CallChained<const void* (*)(const char*)>(kCore2, kDomainCreateA, nullptr, name),
                  Ascii(name));
}
const void* OnDomainCreateW(const wchar_t* name) {
  return HandleOf(
      CallChained<const void* (*)(const wchar_t*)>(kCore2, kDomainCreateW, nullptr, name),
      Wide(name));
}

// --- CUDA and CUDART. Handles and device numbers are told as the numbers they are.

template <int kModule, unsigned kId, RangeKind kKind, typename Object>
void OnNameA(Object object, const char* name) {
  NameNumber(kModule, kId, kKind, static_cast<uint64_t>(object), Ascii(name));
}
template <int kModule, unsigned kId, RangeKind kKind, typename Object>
void OnNameW(Object object, const wchar_t* name) {
  NameNumber(kModule, kId, kKind, static_cast<uint64_t>(object), Wide(name));
}

template <typename F>
Function Plain(F function) {
  return reinterpret_cast<Function>(function);
}

}  // namespace

void SetChained(int module, unsigned id, Function function) noexcept {
  g_chained[module][id].store(function, std::memory_order_release);
}

bool IsRecorded() noexcept {
  return g_settings.bundle[0] != 0 && (g_settings.sources & proto::kSourceNvtx) != 0;
}

void SetTool() noexcept { g_has_tool.store(1, std::memory_order_release); }
bool HasTool() noexcept { return g_has_tool.load(std::memory_order_relaxed) != 0; }

int PushOf(int chained, const Event& event) noexcept {
  const int level = Push(event);
  return HasTool() ? chained : level;
}

uint64_t StartOf(uint64_t chained, const Event& event) noexcept {
  // A range that the tool has no number for cannot be found again: its end will be counted.
  if (HasTool() && chained == 0) return 0;
  const uint64_t id = Start(event, chained);
  return HasTool() ? chained : id;
}

void ForEachCallback(void (*visit)(void* context, int module, unsigned id, Function ours),
                     void* context) noexcept {
  const auto core = [&](unsigned id, Function ours) { visit(context, kCore, id, ours); };
  core(kMarkEx, Plain(OnMarkEx));
  core(kMarkA, Plain(OnMarkA));
  core(kMarkW, Plain(OnMarkW));
  core(kRangeStartEx, Plain(OnRangeStartEx));
  core(kRangeStartA, Plain(OnRangeStartA));
  core(kRangeStartW, Plain(OnRangeStartW));
  core(kRangeEnd, Plain(OnRangeEnd));
  core(kRangePushEx, Plain(OnRangePushEx));
  core(kRangePushA, Plain(OnRangePushA));
  core(kRangePushW, Plain(OnRangePushW));
  core(kRangePop, Plain(OnRangePop));
  core(kNameCategoryA, Plain(OnNameCategoryA));
  core(kNameCategoryW, Plain(OnNameCategoryW));
  core(kNameOsThreadA, Plain(OnNameOsThreadA));
  core(kNameOsThreadW, Plain(OnNameOsThreadW));
  const auto core2 = [&](unsigned id, Function ours) { visit(context, kCore2, id, ours); };
  core2(kDomainMarkEx, Plain(OnDomainMarkEx));
  core2(kDomainRangeStartEx, Plain(OnDomainRangeStartEx));
  core2(kDomainRangeEnd, Plain(OnDomainRangeEnd));
  core2(kDomainRangePushEx, Plain(OnDomainRangePushEx));
  core2(kDomainRangePop, Plain(OnDomainRangePop));
  core2(kDomainNameCategoryA, Plain(OnDomainNameCategoryA));
  core2(kDomainNameCategoryW, Plain(OnDomainNameCategoryW));
  core2(kDomainRegisterStringA, Plain(OnDomainRegisterStringA));
  core2(kDomainRegisterStringW, Plain(OnDomainRegisterStringW));
  core2(kDomainCreateA, Plain(OnDomainCreateA));
  core2(kDomainCreateW, Plain(OnDomainCreateW));
  const auto cuda = [&](unsigned id, Function ours) { visit(context, kCuda, id, ours); };
  cuda(kNameCuDeviceA, Plain(OnNameA<kCuda, kNameCuDeviceA, RangeKind::kNameDevice, int>));
  cuda(kNameCuDeviceW, Plain(OnNameW<kCuda, kNameCuDeviceW, RangeKind::kNameDevice, int>));
  cuda(kNameCuContextA, Plain(OnNameA<kCuda, kNameCuContextA, RangeKind::kNameContext, uint64_t>));
  cuda(kNameCuContextW, Plain(OnNameW<kCuda, kNameCuContextW, RangeKind::kNameContext, uint64_t>));
  cuda(kNameCuStreamA, Plain(OnNameA<kCuda, kNameCuStreamA, RangeKind::kNameStream, uint64_t>));
  cuda(kNameCuStreamW, Plain(OnNameW<kCuda, kNameCuStreamW, RangeKind::kNameStream, uint64_t>));
  cuda(kNameCuEventA, Plain(OnNameA<kCuda, kNameCuEventA, RangeKind::kNameEvent, uint64_t>));
  cuda(kNameCuEventW, Plain(OnNameW<kCuda, kNameCuEventW, RangeKind::kNameEvent, uint64_t>));
  const auto cudart = [&](unsigned id, Function ours) { visit(context, kCudart, id, ours); };
  cudart(kNameCudaDeviceA, Plain(OnNameA<kCudart, kNameCudaDeviceA, RangeKind::kNameDevice, int>));
  cudart(kNameCudaDeviceW, Plain(OnNameW<kCudart, kNameCudaDeviceW, RangeKind::kNameDevice, int>));
  cudart(kNameCudaStreamA,
         Plain(OnNameA<kCudart, kNameCudaStreamA, RangeKind::kNameStream, uint64_t>));
  cudart(kNameCudaStreamW,
         Plain(OnNameW<kCudart, kNameCudaStreamW, RangeKind::kNameStream, uint64_t>));
  cudart(kNameCudaEventA,
         Plain(OnNameA<kCudart, kNameCudaEventA, RangeKind::kNameEvent, uint64_t>));
  cudart(kNameCudaEventW,
         Plain(OnNameW<kCudart, kNameCudaEventW, RangeKind::kNameEvent, uint64_t>));
}

}  // namespace gpuprof::inject::nvtx
