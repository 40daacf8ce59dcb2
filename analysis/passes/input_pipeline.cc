// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `input_pipeline`: how long steps wait for data, and why. See passes.h.

#include "analysis/derived/input_pipeline.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "analysis/passes/host/input_sources.h"
#include "analysis/passes/passes.h"
#include "analysis/steps/statistics.h"
#include "proto/results/input_pipeline.pb.h"

namespace gpuprof::analysis {
namespace {

struct Found {
  const Process* process;
  InputAccount account;
  std::string iterator;  // of tf.data; "": a DataLoader
};

results::InputStage CodeOf(InputStage stage) {
  switch (stage) {
    case InputStage::kNone:
      return results::INPUT_STAGE_NONE;
    case InputStage::kUnknown:
      return results::INPUT_STAGE_UNKNOWN;
    case InputStage::kSample:
      return results::INPUT_STAGE_SAMPLE;
    case InputStage::kSource:
      return results::INPUT_STAGE_SOURCE;
    case InputStage::kLock:
      return results::INPUT_STAGE_LOCK;
    case InputStage::kCollate:
      return results::INPUT_STAGE_COLLATE;
    case InputStage::kOrder:
      return results::INPUT_STAGE_ORDER;
    case InputStage::kTransfer:
      return results::INPUT_STAGE_TRANSFER;
  }
  return results::INPUT_STAGE_UNKNOWN;
}

void FillSource(const Found& found, results::InputSource* row) {
  const InputAccount& account = found.account;
  const Samples waits(account.waits_ns), firsts(account.firsts_ns);
  SetProcess(*found.process, row);
  row->set_name(account.loader);
  row->set_input_bound(account.is_bound);
  row->set_stage(CodeOf(account.stage));
  if (account.is_bound && !found.iterator.empty()) {
    row->set_stage(results::INPUT_STAGE_ITERATOR);
    row->set_stage_detail(found.iterator);
  }
  row->set_batch_count(account.batches);
  row->set_epoch_count(account.epochs);
  row->set_step_count(account.steps);
  row->set_step_ns(account.step_ns);
  row->set_wait_ns(account.wait_ns);
  row->set_rest_ns(account.rest_ns);
  row->set_wait_ratio(account.wait_ratio);
  row->set_median_ns(waits.median());
  row->set_p95_ns(waits.Percentile(0.95));
  row->set_p99_ns(waits.Percentile(0.99));
  row->set_max_ns(account.max_wait_ns);
  row->set_max_start_ns(account.max_wait_start_ns);
  row->set_long_count(account.long_count);
  row->set_first_ns(firsts.mean());
  row->set_first_max_ns(firsts.max());
  row->set_worker_count(account.worker_count);
  row->set_service_ns(account.service_ns);
  row->set_cpu_ns(account.cpu_ns);
  if (account.suffice) row->set_workers_suffice(*account.suffice);
  row->set_limited_by_processors(account.limited_by_processors);
  row->set_processor_count(static_cast<uint32_t>(found.process->cores));
  row->set_source_ns(account.source_ns);
  row->set_outstanding(account.source.outstanding);
  const auto steps = static_cast<int64_t>(std::max<uint64_t>(account.steps, 1));
  row->set_order_ns(account.order_ns / steps);
  const Samples services(account.services_ns), margins(account.margins_ns);
  row->set_life_count(account.lives.size());
  row->set_service_median_ns(services.median());
  row->set_service_p95_ns(services.Percentile(0.95));
  row->set_service_p99_ns(services.Percentile(0.99));
  row->set_margin_p5_ns(margins.Percentile(0.05));
  row->set_margin_median_ns(margins.median());
  if (account.has_work && account.worker_count > 0)
    row->set_passing_ns(account.waited_for_ns[static_cast<size_t>(LoaderWork::kIdle)] / steps);
}

void FillStages(const Found& found, results::InputPipeline* out) {
  const InputAccount& account = found.account;
  if (!account.has_work) return;
  const auto steps = static_cast<int64_t>(std::max<uint64_t>(account.steps, 1));
  const int64_t all = std::accumulate(account.waits_ns.begin(), account.waits_ns.end(), int64_t{0});
  const auto add = [&](results::InputWork work, int64_t work_ns, int64_t waited_ns) {
    if (work_ns == 0 && waited_ns == 0) return;
    results::InputStageTime* row = out->add_stages();
    SetProcess(*found.process, row);
    row->set_work(work);
    row->set_work_ns(work_ns);
    row->set_waited_ns(waited_ns / steps);
    row->set_waited_ratio(Ratio(waited_ns, all));
    if (work_ns > 0)
      row->set_batches_per_s(1e9 * std::max(1u, account.worker_count) /
                             static_cast<double>(work_ns));
  };
  const auto of = [&](results::InputWork code, LoaderWork work) {
    const auto at = static_cast<size_t>(work);
    add(code, account.work_ns[at], account.waited_for_ns[at]);
  };
  of(results::INPUT_WORK_SAMPLE, LoaderWork::kSample);
  of(results::INPUT_WORK_COLLATE, LoaderWork::kCollate);
  of(results::INPUT_WORK_TRANSFER, LoaderWork::kTransfer);
  add(results::INPUT_WORK_ORDER, 0, account.order_ns);
  add(results::INPUT_WORK_PASSING, 0,
      account.waited_for_ns[static_cast<size_t>(LoaderWork::kIdle)]);
}

void FillWorkers(const Found& found, results::InputPipeline* out) {
  for (const WorkerAccount& worker : found.account.workers) {
    results::InputWorker* row = out->add_workers();
    row->set_pid(worker.pid);
    row->set_host(found.process->host);
    const auto of = [&](LoaderWork work) { return worker.work_ns[static_cast<size_t>(work)]; };
    row->set_time_ns(worker.time_ns);
    row->set_sample_ns(of(LoaderWork::kSample));
    row->set_collate_ns(of(LoaderWork::kCollate));
    row->set_transfer_ns(of(LoaderWork::kTransfer));
    row->set_idle_ns(of(LoaderWork::kIdle));
    row->set_busy_ratio(
        Ratio(row->sample_ns() + row->collate_ns() + row->transfer_ns(), worker.time_ns));
  }
}

void FillBatches(const Found& found, results::InputPipeline* out) {
  auto life = found.account.lives.begin();
  uint64_t number = 0, epoch = 0;
  for (const LoaderRecord::Next& next : found.account.nexts) {
    results::InputBatch* row = out->add_batches();
    SetProcess(*found.process, row);
    epoch += next.is_first || number == 0 ? 1 : 0;
    row->set_number(number);
    row->set_epoch(epoch);
    row->set_asked_ns(next.span.start);
    row->set_wait_ns(next.span.length());
    if (life != found.account.lives.end() && life->batch == number) {
      row->set_worker_pid(life->pid);
      row->set_ready_ns(life->ready_ns);
      row->set_margin_ns(next.span.start - life->ready_ns);
      row->set_begin_ns(life->begin_ns);
      if (life->begin_ns != 0) row->set_service_ns(life->ready_ns - life->begin_ns);
      ++life;
    }
    ++number;
  }
}

}  // namespace

Error RunInputPipeline(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::InputPipeline>();
  std::vector<Found> all;
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    if (const InputAccount* account = LoaderAccount(context, index))
      all.push_back({&process, *account, ""});
    for (const DataPipeline& pipeline : FindDataPipelines(process))
      all.push_back({&process, DatasetAccount(pipeline), pipeline.iterators[pipeline.blamed].name});
  }
  const auto waited = [](const Found& each) {
    return each.account.wait_ns * static_cast<int64_t>(each.account.steps);
  };
  std::stable_sort(all.begin(), all.end(),
                   [&](const Found& a, const Found& b) { return waited(a) > waited(b); });
  for (const Found& found : all) {
    FillSource(found, out->add_sources());
    FillStages(found, out.get());
    FillWorkers(found, out.get());
    FillBatches(found, out.get());
  }
  std::stable_sort(out->mutable_batches()->begin(), out->mutable_batches()->end(),
                   [](const results::InputBatch& a, const results::InputBatch& b) {
                     return a.wait_ns() > b.wait_ns();
                   });
  if (!all.empty()) {
    const results::InputSource& first = out->sources(0);
    out->set_input_bound(first.input_bound());
    out->set_stage(first.stage());
    if (first.has_workers_suffice()) out->set_workers_suffice(first.workers_suffice());
  }
  context.FillCountMeta("input_pipeline", out->mutable_meta());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
