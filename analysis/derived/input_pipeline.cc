// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See input_pipeline.h.

#include "analysis/derived/input_pipeline.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "analysis/derived/batch_lives.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

constexpr auto kIdle = static_cast<size_t>(LoaderWork::kIdle);
constexpr auto kSample = static_cast<size_t>(LoaderWork::kSample);
constexpr auto kCollate = static_cast<size_t>(LoaderWork::kCollate);
constexpr auto kTransfer = static_cast<size_t>(LoaderWork::kTransfer);

// How many workers do what, until another moment.
struct Moment {
  Interval span;
  std::array<uint32_t, kLoaderWorks> count{};
};

std::vector<Moment> MomentsOf(const std::vector<LoaderWorker>& workers) {
  struct Change {
    int64_t time;
    size_t work;
    int by;
  };
  std::vector<Change> changes;
  for (const LoaderWorker& worker : workers) {
    for (const LoaderStretch& stretch : worker.stretches) {
      const auto work = static_cast<size_t>(stretch.work);
      changes.push_back({stretch.span.start, work, 1});
      changes.push_back({stretch.span.end, work, -1});
    }
  }
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.time < b.time; });
  std::vector<Moment> moments;
  std::array<int, kLoaderWorks> now{};
  for (size_t i = 0; i < changes.size(); ++i) {
    now[changes[i].work] += changes[i].by;
    if (i + 1 == changes.size() || changes[i + 1].time == changes[i].time) continue;
    Moment& moment = moments.emplace_back();
    moment.span = {changes[i].time, changes[i + 1].time};
    for (size_t work = 0; work < kLoaderWorks; ++work)
      moment.count[work] = static_cast<uint32_t>(std::max(now[work], 0));
  }
  return moments;
}

class Accountant {
 public:
  explicit Accountant(const LoaderRecord& record) : record_(record) {}

  InputAccount Make() {
    account_.loader = record_.name;
    account_.nexts = record_.nexts;
    account_.batches = record_.nexts.size();
    if (record_.nexts.empty()) return std::move(account_);
    AddSteps();
    AddWork();
    AddLives();
    DivideWaits();
    Judge();
    return std::move(account_);
  }

 private:
  struct Wait {
    size_t batch;
    Interval span;
    bool is_tail;  // the workers have been given the epoch's last batches
  };

  bool HasWorkers() const { return !record_.workers.empty(); }

  void AddSteps() {
    const std::vector<LoaderRecord::Next>& nexts = record_.nexts;
    std::vector<Interval> lives;
    for (const LoaderWorker& worker : record_.workers) lives.push_back(worker.life);
    account_.worker_count = MostAtOnce(lives);
    // A loader usually gives each worker two batches ahead.
    const size_t ahead = 2 * size_t{account_.worker_count};
    int64_t steps_ns = 0, waits_ns = 0;
    for (size_t i = 0, epoch_end = 0; i < nexts.size(); ++i) {
      if (i == epoch_end) {
        epoch_begin_ = i;
        for (++epoch_end; epoch_end < nexts.size() && !nexts[epoch_end].is_first;) ++epoch_end;
      }
      if (nexts[i].is_first || i == 0) {
        ++account_.epochs;
        account_.firsts_ns.push_back(nexts[i].span.end - nexts[i].begin_ns);
        continue;
      }
      if (i + 1 >= epoch_end) continue;
      const int64_t wait = nexts[i].span.length();
      steps_ns += nexts[i + 1].span.start - nexts[i].span.start;
      waits_ns += wait;
      account_.waits_ns.push_back(wait);
      if (wait > account_.max_wait_ns) {
        account_.max_wait_ns = wait;
        account_.max_wait_start_ns = nexts[i].span.start;
      }
      const bool is_long = epoch_end - epoch_begin_ > 2 * ahead;
      waits_.push_back({i, nexts[i].span, is_long && i + ahead >= epoch_end});
    }
    std::sort(account_.waits_ns.begin(), account_.waits_ns.end());
    account_.steps = waits_.size();
    if (waits_.empty()) return;
    account_.step_ns = steps_ns / static_cast<int64_t>(waits_.size());
    account_.wait_ns = waits_ns / static_cast<int64_t>(waits_.size());
    account_.rest_ns = account_.step_ns - account_.wait_ns;
    account_.wait_ratio = Ratio(waits_ns, steps_ns);
    uint64_t count = 0;
    for (int64_t sum = 0; count < account_.waits_ns.size() && sum * 10 < waits_ns * 9; ++count)
      sum += account_.waits_ns[account_.waits_ns.size() - 1 - count];
    if (count * 5 <= account_.waits_ns.size()) account_.long_count = count;
  }

  // Adds up what was done for all batches.
  void AddWork() {
    const auto batches = static_cast<int64_t>(account_.batches);
    const Interval window = {record_.nexts.front().begin_ns, record_.nexts.back().span.end};
    double cpu = 0;
    bool has_cpu = true;
    // Workers that were not recorded did what is not known.
    if (!HasWorkers() && record_.name.starts_with("_Multi")) return;
    if (!HasWorkers()) {
      int64_t all = 0, known = 0;
      for (const LoaderRecord::Next& next : record_.nexts) all += next.span.length();
      for (const LoaderStretch& stretch : record_.main) {
        account_.work_ns[static_cast<size_t>(stretch.work)] += stretch.span.length();
        known += stretch.span.length();
      }
      account_.has_work = known > 0;
      // All of the time in the calls is work; samples tell the parts.
      for (int64_t& ns : account_.work_ns)
        ns = known == 0 ? 0 : static_cast<int64_t>(static_cast<double>(all) * Ratio(ns, known));
      account_.service_ns = all / batches;
      cpu = static_cast<double>(all) * record_.main_cpu_ratio;
      has_cpu = record_.main_cpu_ratio >= 0;
    }
    for (const LoaderWorker& worker : record_.workers) {
      WorkerAccount& row = account_.workers.emplace_back();
      row.pid = worker.pid;
      const Interval lived = {std::max(worker.life.start, window.start),
                              std::min(worker.life.end, window.end)};
      row.time_ns = std::max<int64_t>(lived.length(), 0);
      for (const LoaderStretch& stretch : worker.stretches) {
        const int64_t ns =
            std::min(stretch.span.end, window.end) - std::max(stretch.span.start, window.start);
        if (ns > 0) row.work_ns[static_cast<size_t>(stretch.work)] += ns;
      }
      for (size_t work = 0; work < kLoaderWorks; ++work)
        account_.work_ns[work] += row.work_ns[work];
      account_.has_work |= !worker.stretches.empty();
      cpu += static_cast<double>(row.time_ns) * worker.cpu_ratio;
      has_cpu &= worker.cpu_ratio >= 0;
    }
    for (int64_t& ns : account_.work_ns) ns /= batches;
    if (HasWorkers())
      account_.service_ns =
          account_.work_ns[kSample] + account_.work_ns[kCollate] + account_.work_ns[kTransfer];
    if (has_cpu) account_.cpu_ns = static_cast<int64_t>(cpu) / batches;
  }

  // Guesses how long a ready batch is passed on: as long as the short waits take.
  int64_t UsualPassing() const {
    constexpr int64_t kMost = 2'000'000;
    return std::min(kMost, account_.waits_ns[account_.waits_ns.size() / 10]);
  }

  // Divides the waits by what the workers did meanwhile.
  void DivideWaits() {
    int64_t all = std::accumulate(account_.waits_ns.begin(), account_.waits_ns.end(), int64_t{0});
    if (!HasWorkers()) {
      for (size_t work = 0; work < kLoaderWorks; ++work)
        account_.waited_for_ns[work] = static_cast<int64_t>(
            static_cast<double>(all) * Ratio(account_.work_ns[work], account_.service_ns));
      return;
    }
    const std::vector<Moment> moments = MomentsOf(record_.workers);
    auto moment = moments.begin();
    auto life = account_.lives.begin();
    for (const Wait& wait : waits_) {
      while (life != account_.lives.end() && life->batch < wait.batch) ++life;
      const bool is_known = life != account_.lives.end() && life->batch == wait.batch;
      // From here on a ready batch is passed on.
      const int64_t ready = is_known ? life->ready_ns : wait.span.end - UsualPassing();
      while (moment != moments.end() && moment->span.end <= wait.span.start) ++moment;
      for (auto at = moment; at != moments.end() && at->span.start < wait.span.end; ++at) {
        const Interval part = {std::max(at->span.start, wait.span.start),
                               std::min(at->span.end, wait.span.end)};
        const auto& count = at->count;
        const int64_t busy = count[kSample] + count[kCollate] + count[kTransfer];
        if (busy == 0) continue;
        if (count[kIdle] > 0 && !wait.is_tail) {
          const int64_t ns = std::min(part.end, ready) - part.start;
          account_.order_ns += std::max<int64_t>(ns, 0);
          all -= std::max<int64_t>(ns, 0);
          continue;
        }
        // All have work: their number limits the steps, even while a batch is passed on.
        const int64_t ns = part.length();
        for (size_t work = kSample; work < kLoaderWorks; ++work) {
          account_.waited_for_ns[work] += ns * count[work] / busy;
          all -= ns * count[work] / busy;
        }
      }
    }
    account_.waited_for_ns[kIdle] = all;
  }

  void AddLives() {
    account_.lives = LivesOf(record_);
    std::vector<int64_t> passing;
    for (const BatchLife& life : account_.lives) {
      if (life.begin_ns != 0) account_.services_ns.push_back(life.ready_ns - life.begin_ns);
      const LoaderRecord::Next& next = record_.nexts[life.batch];
      const bool is_last =
          life.batch + 1 == record_.nexts.size() || record_.nexts[life.batch + 1].is_first;
      if (!next.is_first && !is_last)
        account_.margins_ns.push_back(next.span.start - life.ready_ns);
      passing.push_back(next.span.end - std::max(next.span.start, life.ready_ns));
    }
    // Passing a batch on stays, however many workers there are.
    account_.rest_ns += std::max<int64_t>(Samples(std::move(passing)).median(), 0);
    std::sort(account_.services_ns.begin(), account_.services_ns.end());
    std::sort(account_.margins_ns.begin(), account_.margins_ns.end());
  }

  void Judge() {
    if (account_.steps == 0) return;
    constexpr double kBound = 0.1, kStarved = 0.05, kPassedOn = 0.2;
    const int64_t all = account_.wait_ns * static_cast<int64_t>(account_.steps);
    const bool knows = account_.has_work;
    const int64_t passed_on = knows ? account_.waited_for_ns[kIdle] : 0;
    const double starved = account_.wait_ratio * (1 - Ratio(passed_on, std::max<int64_t>(all, 1)));
    account_.is_bound =
        account_.wait_ratio >= kPassedOn || (account_.wait_ratio >= kBound && starved >= kStarved);
    JudgeReads();
    Suffice();
    if (!account_.is_bound) return;
    account_.stage = knows ? StageOf(passed_on) : InputStage::kUnknown;
    const bool is_shared =
        account_.stage == InputStage::kSource || account_.stage == InputStage::kLock;
    if (is_shared || account_.stage == InputStage::kTransfer) account_.suffice.reset();
  }

  InputStage StageOf(int64_t passed_on) const {
    const auto& waited = account_.waited_for_ns;
    int64_t samples = waited[kSample], collate = waited[kCollate];
    const int64_t transfer = waited[kTransfer] + passed_on;
    // A late batch is rare. If many are late, workers are few for times that differ.
    if (account_.order_ns > samples + collate + transfer && account_.long_count != 0) {
      return has_lock_                   ? InputStage::kLock
             : account_.source.is_serial ? InputStage::kSource
                                         : InputStage::kOrder;
    }
    (account_.work_ns[kCollate] > account_.work_ns[kSample] ? collate : samples) +=
        account_.order_ns;
    if (transfer > std::max(samples, collate)) return InputStage::kTransfer;
    if (collate > samples) return InputStage::kCollate;
    if (has_lock_) return InputStage::kLock;
    return account_.source.is_serial ? InputStage::kSource : InputStage::kSample;
  }

  // Looks whether workers wait for each other, or for what serves one of them at a time.
  void JudgeReads() {
    constexpr double kMuch = 0.4;
    std::vector<Interval> reads;
    int64_t locks = 0, waited = 0;
    for (const LoaderWorker& worker : record_.workers) {
      reads.insert(reads.end(), worker.reads.begin(), worker.reads.end());
      for (const Interval& read : worker.reads) waited += read.length();
      locks += worker.lock_ns;
    }
    const int64_t samples = account_.work_ns[kSample] * static_cast<int64_t>(account_.batches);
    if (samples == 0 || account_.worker_count < 2) return;
    has_lock_ = Ratio(locks, samples) >= kMuch;
    if (Ratio(waited, samples) < kMuch) return;
    account_.source = JudgeSource(std::move(reads));
    if (account_.source.is_serial)
      account_.source_ns = account_.source.busy_ns / static_cast<int64_t>(account_.batches);
  }

  void Suffice() {
    if (account_.service_ns == 0 || account_.rest_ns <= 0) return;
    const auto needed = static_cast<uint32_t>(
        std::min(std::ceil(Ratio(account_.service_ns, account_.rest_ns)), 65536.0));
    uint32_t most = UINT32_MAX;
    if (record_.processors != 0 && account_.cpu_ns > 0) {
      // One processor is the calling thread's.
      const double free = std::max(1.0, static_cast<double>(record_.processors) - 1);
      const double fit = free * Ratio(account_.service_ns, account_.cpu_ns);
      most = static_cast<uint32_t>(std::clamp(std::floor(fit), 1.0, 65536.0));
    }
    account_.limited_by_processors = needed > most;
    account_.suffice = std::max(1u, std::min(needed, most));
  }

  const LoaderRecord& record_;
  InputAccount account_;
  std::vector<Wait> waits_;
  size_t epoch_begin_ = 0;
  bool has_lock_ = false;
};

}  // namespace

uint32_t MostAtOnce(const std::vector<Interval>& lives) {
  std::vector<std::pair<int64_t, int>> changes;  // ends come before starts of the same moment
  for (const Interval& life : lives) {
    changes.emplace_back(life.start, 1);
    changes.emplace_back(life.end, -1);
  }
  std::sort(changes.begin(), changes.end());
  int count = 0, most = 0;
  for (const auto& [time, change] : changes) most = std::max(most, count += change);
  return static_cast<uint32_t>(most);
}

InputAccount AccountOf(const LoaderRecord& record) { return Accountant(record).Make(); }

bool WaitsForEpochs(const InputAccount& account) {
  if (account.is_bound || account.firsts_ns.size() < 2) return false;
  const auto sum = [](auto begin, auto end) { return std::accumulate(begin, end, int64_t{0}); };
  return sum(account.firsts_ns.begin() + 1, account.firsts_ns.end()) >
         sum(account.waits_ns.begin(), account.waits_ns.end());
}

int64_t SureGainNs(const InputAccount& account) {
  if (account.batches == 0) return 0;
  int64_t saved_ns = 0;
  if (WaitsForEpochs(account)) {
    // A batch has to be made, whoever begins.
    const int64_t rest_ns = std::max(account.wait_ns, account.service_ns);
    for (size_t epoch = 1; epoch < account.firsts_ns.size(); ++epoch)
      saved_ns += std::max<int64_t>(account.firsts_ns[epoch] - rest_ns, 0);
  } else if (account.suffice && !account.limited_by_processors) {
    const int64_t step_ns = std::max<int64_t>(account.step_ns - account.rest_ns, 0);
    saved_ns = step_ns * static_cast<int64_t>(account.steps);
  } else if (account.stage == InputStage::kOrder) {
    saved_ns = account.order_ns;
  }
  return saved_ns / static_cast<int64_t>(account.batches);
}

}  // namespace gpuprof::analysis
