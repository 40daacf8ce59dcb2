// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See page_results.h.

#include "launcher/serve/page_results.h"

#include <google/protobuf/message.h>
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <utility>

#include "launcher/base/temporary_folder.h"
#include "launcher/reading/reading.h"

namespace gpuprof::launcher {
namespace {

// Most results of parts that are kept. Each holds a descriptor.
constexpr int kMostParts = 64;

template <typename Number>
bool ReadNumber(std::string_view text, Number* number) {
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, *number);
  return read.ec == std::errc() && read.ptr == end;
}

// A name PASS or PASS:KEY, with @PART behind it if only a part counts. A part is FROM,TO, step=N,
// pid=PID or device=NUMBER, or several of these with ; between them.
struct Wanted {
  explicit Wanted(const std::string& name) {
    const size_t at = name.find('@');
    const std::string whole = name.substr(0, at);
    pass = whole.substr(0, whole.find(':'));
    if (whole.size() > pass.size()) options.by = whole.substr(pass.size() + 1);
    has_key = whole.size() > pass.size();
    for (size_t begin = at; begin != std::string::npos;) {
      const size_t end = name.find(';', begin + 1);
      const std::string piece = name.substr(begin + 1, end - begin - 1);
      is_wrong = is_wrong || !ReadPiece(piece);
      begin = end;
    }
  }

  bool ReadPiece(std::string_view piece) {
    const size_t equals = piece.find('=');
    if (equals == std::string_view::npos) return !options.window && ReadRange(piece);
    const std::string_view value = piece.substr(equals + 1);
    // Traces of other tools may have a process 0.
    if (piece.substr(0, equals) == "pid")
      return options.pid == 0 && ReadNumber(value, &options.pid) && options.pid >= 0;
    if (piece.substr(0, equals) == "step") {
      uint64_t step = 0;
      if (options.steps || !ReadNumber(value, &step)) return false;
      options.steps = {step, step};
      return true;
    }
    uint32_t device = 0;
    if (piece.substr(0, equals) != "device" || !options.devices.empty()) return false;
    if (!ReadNumber(value, &device)) return false;
    options.devices = {device};
    return true;
  }

  bool ReadRange(std::string_view text) {
    const size_t comma = text.find(',');
    if (comma == std::string_view::npos) return false;
    int64_t from = 0, to = 0;
    if (!ReadNumber(text.substr(0, comma), &from) || !ReadNumber(text.substr(comma + 1), &to))
      return false;
    options.window = {from, to};
    return from < to;
  }

  std::string pass;
  bool has_key = false, is_wrong = false;
  analysis::PassOptions options;
};

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
  const Wanted wanted(name);
  const auto& passes = analysis::Passes();
  const auto pass = std::find_if(passes.begin(), passes.end(),
                                 [&](const auto& each) { return each.name == wanted.pass; });
  if (pass == passes.end())
    return "There is no pass of this name; 'gpuprof help stats' lists them.";
  if (wanted.is_wrong) {
    return "A part is FROM,TO in nanoseconds of the bundle's time, step=N, pid=PID or "
           "device=NUMBER, with a ; between several.";
  }
  if (!wanted.has_key) return "";
  if (std::find(pass->keys.begin(), pass->keys.end(), wanted.options.by) != pass->keys.end())
    return "";
  return "The pass has no key of this name; 'gpuprof help stats' lists them.";
}

std::shared_ptr<analysis::PageInput> OpenForPages(const PlacedInput& input) {
  analysis::OpenOptions open;
  open.origin = input.origin;
  open.kernel_rules = GivenKernelRules();
  return analysis::MakePageInput(input.path, std::move(open));
}

PageAnswer ComputeResult(analysis::PageInput* input, const std::string& name) {
  const Wanted wanted(name);
  PageAnswer answer;
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
