// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// InputPipelinePage: XProf's input_pipeline_analyzer.

#include <string>
#include <string_view>

#include "analysis/xprof/input_analysis.h"
#include "analysis/xprof/pages.h"

namespace gpuprof::analysis::xprof {
namespace {

DataTable HostTable(const InputAnalysis& analysis) {
  DataTable table(
      {{"opName", "string", "Input Op"},
       {"count", "number", "Count"},
       {"timeInMs", "number", "Total Time (in ms)"},
       {"timeInPercent", "number", "Total Time (as % of total input-processing time)"},
       {"selfTimeInMs", "number", "Total Self Time (in ms)"},
       {"selfTimeInPercent", "number", "Total Self Time (as % of total input-processing time)"},
       {"category", "string", "Category"}});
  for (const InputOp& op : analysis.ops) {
    table.AddRow()
        .Text(op.name)
        .Number(op.count)
        .Number(op.time_ms)
        .Number(op.time_percent / 100.0)
        .Number(op.self_ms)
        .Number(op.self_percent / 100.0)
        .Text(op.category);
  }
  const InputTimes& times = analysis.times;
  table.Set("enqueue_us", Digits(times.enqueue, 3));
  table.Set("demanded_file_read_us", Digits(times.demanded_read, 3));
  table.Set("advanced_file_read_us", Digits(times.advanced_read, 3));
  table.Set("preprocessing_us", Digits(times.preprocessing, 3));
  table.Set("unclassified_nonequeue_us", Digits(times.unclassified, 3));
  return table;
}

DataTable AdviceTable() {
  const std::string data = "https://www.tensorflow.org/api_docs/python/tf/data/";
  const auto dataset = [&](std::string_view function, std::string_view text) {
    return Link(data + "Dataset#" + std::string(function), text);
  };
  const auto record = [&](std::string_view text) {
    return Link(data + "TFRecordDataset#class_tfrecorddataset", text);
  };
  DataTable table({{"link", "string", "link"}});
  table.AddRow().Text(
      "Enqueuing data: you may want to combine small input data chunks into fewer but larger "
      "chunks.");
  table.AddRow().Text("Data preprocessing: you may increase num_parallel_calls in " +
                      dataset("map", "Dataset map()") + " or preprocess the data OFFLINE.");
  table.AddRow().Text(
      "Reading data from files in advance: you may tune parameters in the following tf.data API (" +
      dataset("prefetch", "prefetch size") + ", " +
      dataset("interleave", "interleave cycle_length") + ", " + record("reader buffer_size") + ")");
  table.AddRow().Text(
      "Reading data from files on demand: you should read data IN ADVANCE using the following "
      "tf.data API (" +
      dataset("prefetch", "prefetch") + ", " + dataset("interleave", "interleave") + ", " +
      record("reader buffer") + ")");
  table.AddRow().Text("Other data reading or processing: you may consider using the " +
                      Link("https://www.tensorflow.org/programmers_guide/datasets", "tf.data API") +
                      " (if you are not using it now)");
  return table;
}

}  // namespace

std::string InputPipelinePage(const OpStats& stats) {
  const InputAnalysis analysis = AnalyzeInput(stats);
  // The first table is for TPUs.
  return "[" + DataTable().Json() + "," + StepTable(analysis).Json() + "," +
         HostTable(analysis).Json() + "," + AdviceTable().Json() + "," +
         DiagnosticsTable(analysis.warnings, {}).Json() + "]";
}

}  // namespace gpuprof::analysis::xprof
