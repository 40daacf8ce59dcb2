// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See page_results.h.

#include "launcher/serve/page_results.h"

#include <google/protobuf/message.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "launcher/base/temporary_folder.h"
#include "launcher/reading/reading.h"

namespace gpuprof::launcher {
namespace {

// Most results of parts that are kept. Each holds a descriptor.
constexpr int kMostParts = 64;

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
PageAnswer Keep(const Write& write) {
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

PageAnswer ComputeResult(analysis::PageInput* input, const std::string& name) {
  PageAnswer answer;
  analysis::ResultName wanted;
  answer.fault = analysis::ReadResultName(name, &wanted);
  if (!answer.fault.empty()) return answer;
  std::unique_ptr<google::protobuf::Message> result;
  if (const auto error = analysis::RunForPage(input, wanted.pass, wanted.options, &result)) {
    answer.fault = error.message;
    return answer;
  }
  return Keep([&](Writer* writer) {
    analysis::Render(*result, analysis::Format::kJson, wanted.options, 0, Writer::Take, writer);
  });
}

PageAnswer KeepResult(const std::string& json) {
  return Keep([&](Writer* writer) { Writer::Take(writer, json); });
}

PageResults::PageResults(Compute compute)
    : compute_(std::move(compute)), thread_([this] { Run(); }) {}

PageResults::~PageResults() {
  Stop();
  thread_.join();
}

std::shared_ptr<const PageAnswer> PageResults::Get(const std::string& name) {
  std::unique_lock lock(mutex_);
  if (kept_.emplace(name, nullptr).second) {
    ForgetParts();
    wanted_.push_back(name);
    changed_.notify_all();
  }
  std::shared_ptr<const PageAnswer> answer;
  changed_.wait(lock, [&] {
    const auto found = kept_.find(name);
    if (found == kept_.end()) {
      // Another part was asked for meanwhile, and this one was forgotten.
      kept_.emplace(name, nullptr);
      wanted_.push_back(name);
      changed_.notify_all();
    } else {
      answer = found->second;
    }
    return is_stopping_ || answer != nullptr;
  });
  return answer;
}

// Forgets results of parts if there are too many. The files go when nobody reads them any more.
void PageResults::ForgetParts() {
  const auto is_of_part = [](const auto& each) {
    return each.second != nullptr && each.first.find('@') != std::string::npos;
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
    is_busy_ = true;
    lock.unlock();
    auto answer = std::make_shared<const PageAnswer>(compute_(name));
    // The tables of the pass are gone: their memory goes back to the machine.
    malloc_trim(0);
    lock.lock();
    is_busy_ = false;
    kept_[name] = std::move(answer);
    changed_.notify_all();
  }
}

}  // namespace gpuprof::launcher
