// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `tf_data`: pipelines of tf.data. See passes.h.

#include "analysis/derived/tf_data.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "analysis/passes/passes.h"
#include "analysis/steps/statistics.h"
#include "proto/results/tf_data.pb.h"

namespace gpuprof::analysis {
namespace {

results::IteratorClass CodeOf(IteratorClass kind) {
  switch (kind) {
    case IteratorClass::kSource:
      return results::ITERATOR_CLASS_SOURCE;
    case IteratorClass::kPython:
      return results::ITERATOR_CLASS_PYTHON;
    case IteratorClass::kService:
      return results::ITERATOR_CLASS_SERVICE;
    case IteratorClass::kTransform:
      return results::ITERATOR_CLASS_TRANSFORM;
    case IteratorClass::kParallel:
      return results::ITERATOR_CLASS_PARALLEL;
    case IteratorClass::kBatch:
      return results::ITERATOR_CLASS_BATCH;
    case IteratorClass::kShuffle:
      return results::ITERATOR_CLASS_SHUFFLE;
    case IteratorClass::kPrefetch:
      return results::ITERATOR_CLASS_PREFETCH;
    case IteratorClass::kCache:
      return results::ITERATOR_CLASS_CACHE;
    case IteratorClass::kOther:
      return results::ITERATOR_CLASS_OTHER;
  }
  return results::ITERATOR_CLASS_OTHER;
}

void FillIterator(const DataPipeline& pipeline, const DataIterator& iterator,
                  results::DataIterator* row) {
  row->set_name(iterator.name);
  row->set_path(iterator.path);
  row->set_depth(static_cast<uint32_t>(iterator.depth));
  row->set_iterator_class(CodeOf(ClassOfIterator(iterator.name)));
  row->set_asynchronous(IsAsynchronous(iterator.name));
  row->set_count(iterator.count);
  row->set_total_ns(iterator.total_ns);
  row->set_self_ns(iterator.self_ns);
  row->set_mean_ns(iterator.total_ns / static_cast<int64_t>(std::max<uint64_t>(iterator.count, 1)));
  row->set_max_ns(iterator.max_ns);
  row->set_max_start_ns(iterator.max_start_ns);
  row->set_max_tid(iterator.max_tid);
  row->set_thread_count(static_cast<uint32_t>(iterator.threads));
  row->set_waited_ns(iterator.waited_ns);
  row->set_waited_ratio(Ratio(iterator.waited_ns, pipeline.waited_ns));
}

void FillPipeline(const DataPipeline& pipeline, results::DataPipeline* row) {
  const DataIterator& root = pipeline.iterators.front();
  const DataIterator& blamed = pipeline.iterators[pipeline.blamed];
  const Samples waits(pipeline.waits_ns);
  row->set_name(root.path);
  row->set_count(root.count);
  row->set_waited_ns(pipeline.waited_ns);
  row->set_window_ns(pipeline.window_ns);
  row->set_waited_ratio(Ratio(pipeline.waited_ns, pipeline.window_ns));
  row->set_mean_ns(waits.mean());
  row->set_median_ns(waits.median());
  row->set_p95_ns(waits.Percentile(0.95));
  row->set_max_ns(waits.max());
  row->set_max_start_ns(root.max_start_ns);
  row->set_max_tid(root.max_tid);
  row->set_blamed(blamed.name);
  row->set_blamed_path(blamed.path);
  row->set_blamed_class(CodeOf(ClassOfIterator(blamed.name)));
  row->set_blamed_ratio(Ratio(blamed.waited_ns, pipeline.waited_ns));
  row->set_python_ns(pipeline.python_ns);
  if (pipeline.filled) row->set_filled(pipeline.iterators[*pipeline.filled].name);
  row->set_long_count(CountOfLongWaits(pipeline));
}

}  // namespace

Error RunTfData(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::TfData>();
  struct Found {
    const Process* process;
    DataPipeline pipeline;
  };
  std::vector<Found> found;
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    for (DataPipeline& pipeline : FindDataPipelines(process))
      found.push_back({&process, std::move(pipeline)});
  }
  std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return a.pipeline.waited_ns > b.pipeline.waited_ns;
  });
  for (const auto& [process, pipeline] : found) {
    results::DataPipeline* row = out->add_pipelines();
    SetProcess(*process, row);
    FillPipeline(pipeline, row);
    for (const DataIterator& iterator : pipeline.iterators) {
      results::DataIterator* each = out->add_iterators();
      SetProcess(*process, each);
      FillIterator(pipeline, iterator, each);
    }
  }
  context.FillCountMeta("tf_data", out->mutable_meta());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
