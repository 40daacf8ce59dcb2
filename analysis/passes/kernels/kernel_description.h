// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What depends on a kernel's launch signatures and its name alone: configuration, occupancy, tensor
// cores, type of numbers. And what the source of the trace reports about its work. For the pass
// `kernels`; one thread.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/derived/launched_work.h"
#include "analysis/derived/precision.h"
#include "analysis/derived/row_details.h"
#include "analysis/model/trace.h"
#include "analysis/passes/context.h"
#include "proto/results/kernels.pb.h"
#include "proto/trace.pb.h"

namespace gpuprof::analysis {

// The signatures that a row stands for, and the time spent in each.
using SignatureTimes = std::map<uint32_t, int64_t>;

const proto::Signature* SignatureOf(const Process& process, uint32_t id);

// Fills the configuration of a launch.
void FillSignature(const proto::Signature& from, results::Kernel* row);
// Fills name and mangled name. `string_id`: of the name.
void FillName(const Process& process, uint32_t string_id, results::Kernel* row);
// Fills occupancy and waves: means over the launches, by their time. The limit is that of the
// signature with the most time.
void FillOccupancy(const Process& process, const proto::Device& device,
                   const SignatureTimes& signatures, results::Kernel* row);
// Fills the use of tensor cores and the type of numbers, by code, name and the inputs of the
// operations. `device`: null if CUPTI did not describe it. The row has its name.
void FillTensorCores(const Process& process, const proto::Device* device,
                     const SignatureTimes& signatures, results::Kernel* row,
                     const InputPrecision& inputs = {});

// Returns the type of numbers of the kernels of one signature, likewise.
results::Precision PrecisionOfSignature(const Process& process, const proto::Device* device,
                                        uint32_t signature, const InputPrecision& inputs);

// Sums kernels by their families. The context must outlive it.
class FamilyTally {
 public:
  explicit FamilyTally(PassContext& context) : context_(&context) {}
  // Returns the family of the kernels of a signature. `process`: index.
  results::KernelFamily Of(size_t process, uint32_t signature);
  void Add(size_t process, uint32_t signature, uint64_t count, int64_t ns);
  // Fills a row for each family, the largest first. The rows' kernels have their short names.
  void Fill(google::protobuf::RepeatedPtrField<results::KernelFamilyTime>* rows) const;

 private:
  struct OfName {
    results::KernelFamily family = results::KERNEL_FAMILY_NONE;
    uint64_t count = 0;
    int64_t ns = 0;
  };
  OfName& At(size_t process, uint32_t signature);

  PassContext* context_;
  std::map<std::pair<size_t, uint32_t>, OfName> names_;  // by string id of the name
};

// What the source of a trace reports about kernels: XLA's analysis of their operations.
struct ReportedWork {
  uint64_t flops = 0, bytes = 0;
  int64_t flops_ns = 0, bytes_ns = 0;  // the time of the kernels with the figure
  uint64_t hlo_count = 0;              // kernels of XLA's compiled code
  bool is_of_hlo = false;              // a program of XLA tells operations

  void Join(const ReportedWork& other);
};

// Adds up the reports of a track's kernels by signature. `only`: correlations of the launches that
// count; null: all do. Empty: the trace has no details of kernels.
std::unordered_map<uint32_t, ReportedWork> ReportedWorkOf(const Track& track,
                                                          const std::unordered_set<uint32_t>* only,
                                                          RowDetails* details);
// Adds the report of one row.
void AddReportedWork(const KernelTable& kernels, size_t row, RowDetails* details,
                     ReportedWork* work);
// Fills sums and rates. A rate of no time is left out.
void FillReportedWork(const ReportedWork& work, results::Kernel* row);
// Adds what the shapes of an operation tell about one row.
void AddShapedWork(const LaunchedWork& launched, uint32_t track, const KernelTable& kernels,
                   size_t row, ReportedWork* work);
// Fills what was counted from the shapes of operations, where the source reports nothing.
void FillShapedWork(const ReportedWork& work, results::Kernel* row);
// Fills the peaks of the device, and the part of its peak that was reached. The row has its rates
// and its type of numbers. Returns where the figures are from; "": the device is not in our table.
std::string_view FillPeaks(const Process& process, results::Kernel* row);
void FillFlops(uint64_t flops, int64_t ns, results::WorkEvidence evidence, results::Kernel* row);

}  // namespace gpuprof::analysis
