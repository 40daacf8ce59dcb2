// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/device_timeline.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

using test::kUs;
using test::ProcessBuilder;

// A process with what its timeline needs.
class Timeline {
 public:
  explicit Timeline(const ProcessBuilder& builder)
      : process_(builder.Build()),
        ops_(process_),
        calls_(process_),
        classes_(process_),
        host_(&ops_),
        timeline_(process_, 0, calls_, &classes_, &host_) {}

  const DeviceTimeline& get() const { return timeline_; }
  // Returns the categories that have time in the window, with their time.
  std::map<results::TimeCategory, int64_t> In(int64_t start, int64_t end) const {
    std::map<results::TimeCategory, int64_t> found;
    const DeviceTimes times = timeline_.Split({start, end});
    for (size_t i = 0; i < times.size(); ++i)
      if (times[i] != 0) found[static_cast<results::TimeCategory>(i)] = times[i];
    return found;
  }

 private:
  Process process_;
  ProcessOps ops_;
  CallIndex calls_;
  KernelClasses classes_;
  HostActivity host_;
  DeviceTimeline timeline_;
};

using Times = std::map<results::TimeCategory, int64_t>;

TEST(DeviceTimeline, WorkCountsOnceAndComputingComesFirst) {
  ProcessBuilder builder(7);
  const uint32_t sgemm = builder.Signature("ampere_sgemm_128x64_tn", 1, 32);
  const uint32_t bf16 = builder.Signature("nvjet_tst_128x64_64x8_2x1_v_bz_TNT", 1, 32);
  const uint32_t reduce = builder.Signature("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 1, 32);
  builder.Stream(0, 1, 7).Kernel(sgemm, 0, 10).Kernel(bf16, 10, 20);
  builder.Stream(0, 1, 8).Kernel(reduce, 5, 40);
  builder.Stream(0, 1, 9).Copy(1, 2, 3, 100, 30, 50).Copy(2, 3, 2, 100, 50, 55).Set(8, 55, 58);
  const Timeline timeline(builder);
  EXPECT_EQ(timeline.In(0, 58), (Times{{results::TIME_CATEGORY_COMPUTE_FP32, 10},
                                       {results::TIME_CATEGORY_COMPUTE_BF16, 10},
                                       {results::TIME_CATEGORY_COLLECTIVE, 20},
                                       {results::TIME_CATEGORY_COPY_HTOD, 10},
                                       {results::TIME_CATEGORY_COPY_DTOH, 5},
                                       {results::TIME_CATEGORY_COPY_DTOD, 3}}));
  EXPECT_EQ(timeline.In(15, 22), (Times{{results::TIME_CATEGORY_COMPUTE_BF16, 5},
                                        {results::TIME_CATEGORY_COLLECTIVE, 2}}));
}

TEST(DeviceTimeline, TheLaunchOfTheNextWorkExplainsAGap) {
  ProcessBuilder builder(7);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  builder.Thread(7)
      .Call("cudaLaunchKernel", 100, 110, 1)   // ends within the gap before its work
      .Call("cudaLaunchKernel", 150, 160, 2)   // long before its work, which is behind on a stream
      .Call("cudaLaunchKernel", 170, 180, 3);  // long before its work, on another stream
  builder.Stream(0, 1, 7).Kernel(kernel, 120, 200, 1).Kernel(kernel, 210, 300, 2);
  builder.Stream(0, 1, 8).Kernel(kernel, 330, 340, 3);
  builder.Stream(0, 1, 9).Kernel(kernel, 360, 370, 99);
  const Timeline timeline(builder);
  const Times work = {{results::TIME_CATEGORY_COMPUTE_UNKNOWN, 80}};
  EXPECT_EQ(timeline.In(90, 120),
            (Times{{results::TIME_CATEGORY_HOST, 10}, {results::TIME_CATEGORY_LAUNCH, 20}}));
  EXPECT_EQ(timeline.In(120, 200), work);
  EXPECT_EQ(timeline.In(200, 210), (Times{{results::TIME_CATEGORY_LAUNCH, 10}}))
      << "it lay in the queue of the stream that was busy";
  EXPECT_EQ(timeline.In(300, 330), (Times{{results::TIME_CATEGORY_DEPENDENCY, 30}}));
  EXPECT_EQ(timeline.In(340, 360), (Times{{results::TIME_CATEGORY_UNEXPLAINED, 20}}))
      << "its launch is not in the recording";
  EXPECT_EQ(timeline.In(370, 400), (Times{{results::TIME_CATEGORY_UNEXPLAINED, 30}}))
      << "nothing follows";
}

TEST(DeviceTimeline, OfWorkThatBeginsTogetherTheFirstLaunchCounts) {
  ProcessBuilder builder(7);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  builder.Thread(7).Call("cudaLaunchKernel", 15, 16, 1).Call("cudaLaunchKernel", 25, 26, 2);
  builder.Stream(0, 1, 7).Kernel(kernel, 0, 10).Kernel(kernel, 30, 40, 2);
  builder.Stream(0, 1, 8).Kernel(kernel, 30, 40, 1);
  EXPECT_EQ(Timeline(builder).In(10, 30),
            (Times{{results::TIME_CATEGORY_HOST, 5}, {results::TIME_CATEGORY_LAUNCH, 15}}));
}

TEST(DeviceTimeline, TheLateHostDidWhatItsInnermostReasonSays) {
  ProcessBuilder builder(7);
  const uint32_t kernel = builder.Signature("k", 1, 32);
  builder.Thread(7)
      .Loader(10, 30)
      .Op("aten::mm", 30, 80)
      .Call("cudaDeviceSynchronize", 40, 45, 5)
      .Call("cuModuleLoadData", 50, 60, 6)
      .Overhead(proto::OverheadOperation(1 << 16), 55, 58)
      .Call("cudaLaunchKernel", 80, 85, 1);
  builder.Stream(0, 1, 7).Kernel(kernel, 0, 5).Kernel(kernel, 90, 100, 1);
  EXPECT_EQ(Timeline(builder).In(5, 90), (Times{{results::TIME_CATEGORY_INPUT, 20},
                                                {results::TIME_CATEGORY_SYNC, 5},
                                                {results::TIME_CATEGORY_COMPILE, 7},
                                                {results::TIME_CATEGORY_PROFILER, 3},
                                                {results::TIME_CATEGORY_HOST, 40},
                                                {results::TIME_CATEGORY_LAUNCH, 10}}));
}

// Every nanosecond of every window has one category: that of the slow reading of the same rules.
TEST(DeviceTimeline, CategoriesOfRandomWorkAddUp) {
  std::mt19937 random(4711);
  const auto below = [&](int64_t most) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(most));
  };
  for (int round = 0; round < 200; ++round) {
    ProcessBuilder builder(7);
    const uint32_t kernel = builder.Signature(round % 2 == 0 ? "k" : "nccl_k", 1, 32);
    test::TrackBuilder* streams[] = {&builder.Stream(0, 1, 7), &builder.Stream(0, 1, 8)};
    std::vector<Interval> spans;
    int64_t host = 0;
    int64_t free_at[2] = {0, 0};
    for (uint32_t id = 1; id <= 12; ++id) {
      host += below(30);
      if (below(5) != 0) builder.Thread(7).Call("cudaLaunchKernel", host, host + 3, id);
      host += 3;
      const size_t s = static_cast<size_t>(below(2));
      const int64_t start = std::max(free_at[s], host + below(10));
      free_at[s] = start + 1 + below(20);
      spans.push_back({start, free_at[s]});
      if (below(3) == 0) {
        streams[s]->Copy(1, 1, 3, 8, start, free_at[s], id);
      } else {
        streams[s]->Kernel(kernel, start, free_at[s], id);
      }
    }
    const Timeline timeline(builder);
    const std::vector<Interval> busy = UnionOf(spans);
    EXPECT_EQ(timeline.get().busy(), busy);
    for (int i = 0; i < 20; ++i) {
      const int64_t start = below(500) - 50;
      const Interval window = {start, start + below(300)};
      const DeviceTimes times = timeline.get().Split(window);
      EXPECT_EQ(std::accumulate(times.begin(), times.end(), int64_t{0}), window.length());
      const int64_t working =
          std::accumulate(times.begin(), times.begin() + results::TIME_CATEGORY_INPUT, int64_t{0});
      EXPECT_EQ(working, CoveredLength(busy, window));
      // Parts add up to the whole.
      const int64_t cut = window.start + below(std::max<int64_t>(window.length(), 1));
      DeviceTimes parts = timeline.get().Split({window.start, cut});
      const DeviceTimes rest = timeline.get().Split({cut, window.end});
      for (size_t k = 0; k < parts.size(); ++k) parts[k] += rest[k];
      EXPECT_EQ(parts, times);
    }
  }
}

results::TimeCategory Category(const std::string& name) {
  return IsCollective({}, name) ? results::TIME_CATEGORY_COLLECTIVE
                                : CategoryOf(PrecisionOf(name, 9, 0).precision);
}

TEST(KernelCategory, ComesFromCodeOrName) {
  using results::TimeCategory;
  const std::vector<std::pair<std::string, TimeCategory>> cases = {
      {"ampere_sgemm_32x32_sliced1x4_nt", results::TIME_CATEGORY_COMPUTE_FP32},
      {"ampere_dgemm_128x64_nn", results::TIME_CATEGORY_COMPUTE_FP64},
      {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1",
       results::TIME_CATEGORY_COMPUTE_BF16},
      {"ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
       results::TIME_CATEGORY_COLLECTIVE},
      {"multimem_all_reduce_kernel<c10::BFloat16, 16>", results::TIME_CATEGORY_COLLECTIVE},
      {"void vllm::cross_device_reduce_1stage<float, 2>", results::TIME_CATEGORY_COLLECTIVE},
      {"a_kernel_of_mine", results::TIME_CATEGORY_COMPUTE_UNKNOWN},
  };
  for (const auto& [name, category] : cases) EXPECT_EQ(Category(name), category) << name;
}

TEST(KernelClass, InstructionsOfXlaMoveData) {
  EXPECT_TRUE(IsCollective({}, "all-reduce.12"));
  EXPECT_TRUE(IsCollective({}, "%collective-permute = f32[8]"));
  EXPECT_TRUE(IsCopyOfXla("copy-done.2"));
  EXPECT_TRUE(IsCopyOfXla("%copy-start = (f32[5])"));
  EXPECT_FALSE(IsCopyOfXla("copy.3"));
  EXPECT_FALSE(IsCollective({}, "fusion.7"));
}

}  // namespace
}  // namespace gpuprof::analysis
