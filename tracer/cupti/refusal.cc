// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/refusal.h"

#include <atomic>

#include "tracer/cupti/driver.h"
#include "tracer/cupti/quirks.h"
#include "tracer/cupti/text.h"

namespace gpuprof::tracer::cupti {
namespace {

// Whole once g_refused is set.
char g_refusal[1600];
std::atomic<uint32_t> g_refused{0};

const char* Meaning(int result) {
  switch (result) {
    case kMaxLimitReached:
    case kMultipleSubscribersNotSupported:
      return " holds CUPTI; host events are recorded all the same, and the next capture tries "
             "again";
    case kNotInitialized:
      return "the driver is too old for this libcupti; install one that fits the driver";
    case kInsufficientPrivileges:
      return "the driver lets administrators alone profile; ask for "
             "NVreg_RestrictProfilingToAdminUsers=0 or the capability CAP_PERFMON";
    case kUmNotSupported:
      return "this kind of machine does not report unified memory";
    case kUmNotSupportedOnDevice:
      return "the GPU does not report unified memory";
    case kUmNotSupportedOnNonP2pDevices:
      return "not with GPUs that cannot reach each other's memory; let the program see one of them "
             "(CUDA_VISIBLE_DEVICES)";
    case kUmNotSupportedWithMps:
      return "not under MPS";
    default:
      return "";
  }
}

void Describe(const Functions& functions, const SubscribeFailure& failure, const char* lacking,
              Text* text) {
  const char* name = nullptr;
  if (functions.get_result_string != nullptr) functions.get_result_string(failure.result, &name);
  text->Add(lacking).Add(": ");
  const char* meaning = Meaning(failure.result);
  if (*failure.function != 0) {
    text->Add(failure.function).Add(" failed with ");
    text->Add(name != nullptr ? name : "an unknown error").Add(*meaning != 0 ? ": " : "");
  }
  if (IsHeld(failure.result)) {
    text->Add("another profiler in this process");
    if (failure.holder[0] != 0) text->Add(" (").AddForeign(failure.holder).Add(")");
  }
  text->Add(meaning);
}

// A library that cannot speak to the driver gives no better reason than these.
void NameMismatch(const Library& library, int result, Text* text) {
  constexpr uint32_t kMajor = 1000, kMinor = 10;
  const uint32_t driver = DriverVersion();
  text->Add(result == kUnknown ? ": most likely a library that does not fit the driver" : "");
  text->Add(" (").Add(library.path).Add(", CUPTI ");
  AddRelease(library.version, text);
  text->Add(", API version ").Number(library.version);
  if (driver != 0)
    text->Add("; the driver is of CUDA ")
        .Number(driver / kMajor)
        .Add(".")
        .Number(driver % kMajor / kMinor);
  text->Add(")");
  if (result == kUnknown)
    text->Add("; install the CUPTI of the driver's release of CUDA, or a newer driver");
}

}  // namespace

void Refuse(const Host& host, const char* text) {
  // A capture that meets with the same again says nothing new.
  if (strcmp(Refusal(), text) == 0) return;
  host.say(text);
  if (g_refused.load() != 0) return;
  Text(g_refusal).Add(text);
  g_refused.store(1, std::memory_order_release);
}

void SayRefused(const Host& host, const Functions& functions, const SubscribeFailure& failure,
                const char* lacking) {
  char line[640];
  Text text(line);
  Describe(functions, failure, lacking, &text);
  Refuse(host, line);
}

void SayUnusable(const Host& host, const Library& library, const SubscribeFailure& failure) {
  char line[1600];
  Text text(line);
  Describe(library.functions, failure, "no GPU activity is recorded", &text);
  if (failure.result == kUnknown || failure.result == kNotInitialized)
    NameMismatch(library, failure.result, &text);
  Refuse(host, line);
}

const char* Refusal() { return g_refused.load(std::memory_order_acquire) != 0 ? g_refusal : ""; }

}  // namespace gpuprof::tracer::cupti
