// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See page_results.h.

#include "launcher/serve/page_results.h"

#include <google/protobuf/message.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <string_view>
#include <utility>

#include "launcher/base/temporary_folder.h"
#include "launcher/reading/reading.h"
#include "launcher/serve/large_results.h"

namespace gpuprof::launcher {
namespace {

// Most results of parts that are kept. Each holds a descriptor.
constexpr int kMostParts = 64;
// Most who wait for large results of a page: each has a thread of the server, and the four pages
// that stay open shall not have them all.
constexpr int kMostWaiting = 12;
constexpr std::chrono::milliseconds kGoneLook(100);

// Takes the pieces of a result.
struct Writer {
  int fd = -1;
  uint64_t size = 0;
  int error = 0;

  static bool Take(void* context, std::string_view text) {
    auto* self = static_cast<Writer*>(context);
    while (!text.empty()) {
      const ssize_t done = write(self->fd, text.data(), text.size());
      if (done < 0 && errno == EINTR) continue;
      if (done < 0) {
        self->error = errno;
        return false;
      }
      self->size += static_cast<uint64_t>(done);
      text.remove_prefix(static_cast<size_t>(done));
    }
    return true;
  }
};

template <typename Write>
PageAnswer KeepWritten(const Write& write) {
  PageAnswer answer;
  auto file = std::make_shared<codec::OwnedFile>();
  answer.fault = MakeUnnamedFile(file.get());
  if (!answer.fault.empty()) return answer;
  Writer writer{file->fd()};
  write(&writer);
  if (writer.error != 0) {
    answer.fault = std::string("The result cannot be kept in a temporary file: ") +
                   std::strerror(writer.error) + "; name another place in TMPDIR.";
    return answer;
  }
  answer.file = std::move(file);
  answer.size = writer.size;
  return answer;
}

}  // namespace

std::string CheckResultName(const std::string& name) {
  analysis::ResultName read;
  return analysis::ReadResultName(name, &read);
}

std::shared_ptr<analysis::PageInput> OpenForPages(const PlacedInput& input) {
  analysis::OpenOptions open;
  open.origin = input.origin;
  open.kernel_rules = GivenKernelRules();
  return analysis::MakePageInput(input.path, std::move(open));
}

PageComputed ComputeResult(analysis::PageInput* input, const std::string& name,
                           const LargeResults& large) {
  PageAnswer answer;
  analysis::ResultName wanted;
  answer.fault = analysis::ReadResultName(name, &wanted);
  if (!answer.fault.empty()) return {answer};
  analysis::PageNeed need;
  analysis::Error error = analysis::NeedOfPage(*input, wanted.pass, wanted.options, &need);
  if (!error && large.IsLarge(need)) {
    const std::string why = large.WhyNot(name, need);
    if (why.empty()) return {answer, need};
    // The page that opens first is always there, be it of fewer rows.
    if (!need.has_less) {
      answer.fault = why;
      answer.is_passing = true;
      return {answer};
    }
  }
  std::unique_ptr<google::protobuf::Message> result;
  if (!error) error = analysis::RunForPage(input, wanted.pass, wanted.options, &result);
  if (error) {
    answer.fault = error.message;
    return {answer};
  }
  answer = KeepWritten([&](Writer* writer) {
    analysis::Render(*result, analysis::Format::kJson, wanted.options, 0, Writer::Take, writer);
  });
  answer.is_passing = !error && large.IsLarge(need);
  return {answer};
}

PageWait LookAtResult(analysis::PageInput* input, const std::string& name,
                      const LargeResults& large) {
  analysis::ResultName wanted;
  analysis::PageNeed need;
  if (!analysis::ReadResultName(name, &wanted).empty() ||
      analysis::NeedOfPage(*input, wanted.pass, wanted.options, &need))
    return {};
  return {"", large.IsLarge(need), large.HasLarge(need)};
}

PageAnswer KeepResult(const std::string& json) {
  return KeepWritten([&](Writer* writer) { Writer::Take(writer, json); });
}

PageResults::PageResults(Ways ways) : ways_(std::move(ways)), thread_([this] { Run(); }) {}

PageResults::~PageResults() {
  Stop();
  thread_.join();
}

std::shared_ptr<PageResults::Entry> PageResults::Ask(const std::string& name) {
  if (const auto found = kept_.find(name); found != kept_.end()) return found->second;
  auto entry = std::make_shared<Entry>();
  kept_.emplace(name, entry);
  ForgetParts();
  wanted_.push_back(name);
  changed_.notify_all();
  return entry;
}

std::shared_ptr<const PageAnswer> PageResults::Get(const std::string& name,
                                                   const std::function<bool()>& is_gone) {
  Lock lock(mutex_);
  const std::shared_ptr<Entry> entry = Ask(name);
  std::shared_ptr<const PageAnswer> refusal;
  bool is_counted = false;
  ++entry->waiting;
  while (!is_stopping_ && entry->answer == nullptr && refusal == nullptr) {
    if (!entry->need) {
      changed_.wait(lock);
    } else if (!is_counted && waiting_for_large_ >= kMostWaiting) {
      refusal = std::make_shared<const PageAnswer>(
          PageAnswer{nullptr, 0, "Too many requests wait for large results. Try again later."});
    } else {
      if (!is_counted) ++waiting_for_large_;
      is_counted = true;
      if (!entry->is_led) {
        Lead(name, entry.get(), is_gone, &lock);
      } else {
        changed_.wait_for(lock, kGoneLook);
      }
      if (entry->answer == nullptr && is_gone != nullptr && is_gone()) break;
    }
  }
  if (is_counted) --waiting_for_large_;
  if (--entry->waiting == 0 && entry->need && entry->answer == nullptr) Forget(name, entry.get());
  return refusal != nullptr ? refusal : entry->answer;
}

// Has a large result computed, for as long as somebody waits for it.
void PageResults::Lead(const std::string& name, Entry* entry, const std::function<bool()>& is_gone,
                       Lock* lock) {
  entry->is_led = true;
  lock->unlock();
  bool is_left = false, is_ended = false;
  PageAnswer answer = ways_.compute_large(name, *entry->need, [&] {
    is_left = is_left || (is_gone != nullptr && is_gone());
    const std::lock_guard look(mutex_);
    is_ended = is_ended || is_stopping_ || (is_left && entry->waiting == 1);
    return !is_ended;
  });
  lock->lock();
  entry->is_led = false;
  if (!is_ended) {
    answer.is_passing = !answer.fault.empty();
    Keep(name, entry, std::move(answer));
  }
  // Somebody may have come meanwhile, and has it computed anew.
  changed_.notify_all();
}

PageWait PageResults::WaitOf(const std::string& name) {
  std::optional<analysis::PageNeed> need;
  bool is_there = false;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = kept_.find(name); found != kept_.end()) {
      need = found->second->need;
      is_there = found->second->answer != nullptr;
    }
  }
  if (need && !is_there) return {ways_.words_of(name, *need), true, true};
  PageWait wait = ways_.look_at == nullptr ? PageWait{} : ways_.look_at(name);
  wait.is_large = wait.is_large && !is_there;
  return wait;
}

void PageResults::Keep(const std::string& name, Entry* entry, PageAnswer answer) {
  const bool is_passing = answer.is_passing;
  entry->answer = std::make_shared<const PageAnswer>(std::move(answer));
  if (is_passing) Forget(name, entry);
}

void PageResults::Forget(const std::string& name, const Entry* entry) {
  const auto found = kept_.find(name);
  if (found != kept_.end() && found->second.get() == entry) kept_.erase(found);
}

// Forgets results of parts if there are too many. The files go when nobody reads them any more.
void PageResults::ForgetParts() {
  const auto is_of_part = [](const auto& each) {
    return each.second->answer != nullptr && each.first.find('@') != std::string::npos;
  };
  if (std::count_if(kept_.begin(), kept_.end(), is_of_part) > kMostParts)
    std::erase_if(kept_, is_of_part);
}

bool PageResults::Stop() {
  const std::lock_guard lock(mutex_);
  is_stopping_ = true;
  changed_.notify_all();
  return !is_busy_;
}

void PageResults::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return is_stopping_ || !wanted_.empty(); });
    if (is_stopping_) return;
    const std::string name = wanted_.front();
    wanted_.pop_front();
    const auto found = kept_.find(name);
    if (found == kept_.end()) continue;
    const std::shared_ptr<Entry> entry = found->second;
    is_busy_ = true;
    lock.unlock();
    PageComputed computed = ways_.compute(name);
    // The tables of the pass are gone: their memory goes back to the machine.
    malloc_trim(0);
    lock.lock();
    is_busy_ = false;
    if (computed.need) {
      entry->need = computed.need;
    } else {
      Keep(name, entry.get(), std::move(computed.answer));
    }
    changed_.notify_all();
  }
}

}  // namespace gpuprof::launcher
