// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See imports.h.

#include "launcher/serve/imports.h"

#include <algorithm>

#include "launcher/base/text.h"

namespace gpuprof::launcher {
namespace {

// Reading takes about so much of the whole: then tables are built and written.
constexpr double kReading = 0.8;

}  // namespace

Imports::Imports(ImportCache* cache) : cache_(cache), thread_([this] { Run(); }) {}

Imports::~Imports() {
  Stop();
  thread_.join();
}

std::shared_ptr<Imports::Job> Imports::Find(const ServedCapture& capture) {
  const auto found = jobs_.find(capture.id);
  const bool is_current = found != jobs_.end() && found->second->capture.state == capture.state;
  return is_current ? found->second : nullptr;
}

ImportState Imports::StateOf(const Job& job) {
  ImportState state;
  if (!job.is_done) {
    state.kind = ImportState::Kind::kImporting;
    if (job.bytes_read != 0 && job.capture.bytes != 0) {
      const auto read = static_cast<double>(job.bytes_read.load());
      state.progress = kReading * std::min(1.0, read / static_cast<double>(job.capture.bytes));
    }
  } else if (!job.fault.empty()) {
    state.kind = ImportState::Kind::kFailed;
    state.fault = job.fault;
  } else {
    state.trace = job.trace != nullptr ? job.trace : job.taken.lock();
    if (state.trace != nullptr) state.kind = ImportState::Kind::kReady;
  }
  return state;
}

ImportState Imports::Ask(const ServedCapture& capture) {
  const std::lock_guard lock(mutex_);
  if (const std::shared_ptr<Job> job = Find(capture)) {
    const ImportState state = StateOf(*job);
    job->trace = nullptr;
    if (state.kind != ImportState::Kind::kNone) return state;
  }
  if (auto kept = cache_->Find(capture.path, capture.foreign))
    return {ImportState::Kind::kReady, std::move(kept), {}, ""};
  const auto job = std::make_shared<Job>();
  job->capture = capture;
  jobs_[capture.id] = job;
  waiting_[next_++] = job;
  changed_.notify_all();
  return StateOf(*job);
}

ImportState Imports::Await(const ServedCapture& capture) {
  for (;;) {
    ImportState state = Ask(capture);
    if (state.kind != ImportState::Kind::kImporting) return state;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] {
      const std::shared_ptr<Job> job = Find(capture);
      return is_stopping_ || job == nullptr || job->is_done;
    });
    if (is_stopping_) return state;
  }
}

ImportState Imports::Look(const ServedCapture& capture) {
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<Job> job = Find(capture);
  return job == nullptr ? ImportState() : StateOf(*job);
}

bool Imports::Stop() {
  const std::lock_guard lock(mutex_);
  is_stopping_ = true;
  changed_.notify_all();
  return !is_busy_;
}

void Imports::Run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return is_stopping_ || !waiting_.empty(); });
    if (is_stopping_) return;
    const std::shared_ptr<Job> job = waiting_.begin()->second;
    waiting_.erase(waiting_.begin());
    is_busy_ = true;
    lock.unlock();
    analysis::Error error;
    auto trace = cache_->Make(job->capture.path, job->capture.foreign, &job->bytes_read, &error);
    lock.lock();
    is_busy_ = false;
    job->is_done = true;
    // What was not asked for any more is let go.
    for (const auto& [id, other] : jobs_) other->trace = nullptr;
    job->trace = std::move(trace);
    job->taken = job->trace;
    if (error) job->fault = AsSentence(error.message);
    changed_.notify_all();
  }
}

}  // namespace gpuprof::launcher
