// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/import/xspace_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpuprof::analysis::import {
namespace {

using testing::ElementsAre;
using testing::Pair;

TEST(XSpaceNames, PlanesAreKnownByTheirNames) {
  EXPECT_EQ(PlaneNameOf("/host:CPU").kind, PlaneKind::kHost);
  EXPECT_EQ(PlaneNameOf("/host:CUPTI").kind, PlaneKind::kHost);
  EXPECT_EQ(PlaneNameOf("/host:metadata").kind, PlaneKind::kMetadata);
  EXPECT_EQ(PlaneNameOf("/host:__ScopeRangeCallStack__").kind, PlaneKind::kScopes);
  EXPECT_EQ(PlaneNameOf("Task Environment").kind, PlaneKind::kTask);
  EXPECT_EQ(PlaneNameOf("/device:GPU:7").kind, PlaneKind::kGpu);
  EXPECT_EQ(PlaneNameOf("/device:GPU:7").device, 7u);
  EXPECT_EQ(PlaneNameOf("/device:TPU:2 SparseCore 1").kind, PlaneKind::kTpu);
  EXPECT_EQ(PlaneNameOf("/device:TPU:2 SparseCore 1").device, 2u);
  EXPECT_EQ(PlaneNameOf("/device:TPU:2 SparseCore 1").part, "SparseCore 1");
  EXPECT_EQ(PlaneNameOf("/device:GPU:").kind, PlaneKind::kOther);
  EXPECT_EQ(PlaneNameOf("/device:GPU:99999999999").kind, PlaneKind::kOther);
  EXPECT_EQ(PlaneNameOf("/device:CUSTOM:Megascale Trace").kind, PlaneKind::kOther);
}

TEST(XSpaceNames, DerivedLinesAreNoWork) {
  const auto of_gpu = [](int64_t id, std::string_view name) {
    return DeviceLineOf(PlaneKind::kGpu, id, name);
  };
  EXPECT_EQ(of_gpu(7, "Stream #7(Kernel,MemcpyH2D)"), DeviceLine::kWork);
  EXPECT_EQ(of_gpu(7, "XLA Modules"), DeviceLine::kDerived);
  EXPECT_EQ(of_gpu(7, "XLA Ops"), DeviceLine::kDerived);
  EXPECT_EQ(of_gpu(7, "XLA Ops - from #14"), DeviceLine::kDerived);
  EXPECT_EQ(of_gpu(7, "Steps"), DeviceLine::kSteps);
  EXPECT_EQ(of_gpu(0xdeadbeef + 7ll, "a name of another release"), DeviceLine::kDerived);
  EXPECT_EQ(of_gpu(0xdeadbeef - (1ll << 32), "another"), DeviceLine::kDerived);
  EXPECT_EQ(of_gpu(0, "_counters_"), DeviceLine::kCounters);
  EXPECT_EQ(DeviceLineOf(PlaneKind::kTpu, 3, "XLA Ops"), DeviceLine::kWork);
  EXPECT_EQ(DeviceLineOf(PlaneKind::kTpu, 4, "Async XLA Ops"), DeviceLine::kAsync);
  EXPECT_EQ(DeviceLineOf(PlaneKind::kTpu, 9, "a new line"), DeviceLine::kDerived);
}

TEST(XSpaceNames, PackedTextsHaveBlanksOrLines) {
  for (const char* packed :
       {"regs:32 static_shared:1024 dynamic_shared:64 grid:8,2,1 block:128,1,4 occ_pct:25",
        "regs:32\nstatic_shared:1024\ndynamic_shared:64\ngrid:8,2,1\nblock:128,1,4"}) {
    const KernelShape shape = KernelShapeOf(packed);
    EXPECT_THAT(shape.grid, ElementsAre(8, 2, 1));
    EXPECT_THAT(shape.block, ElementsAre(128, 1, 4));
    EXPECT_EQ(shape.registers, 32u);
    EXPECT_EQ(shape.static_shared, 1024u);
    EXPECT_EQ(shape.dynamic_shared, 64u);
  }
  const KernelShape rocm = KernelShapeOf(" grid:16,1,1 block:512,1,1 private_mem:8 group_mem:2112");
  EXPECT_EQ(rocm.dynamic_shared, 2112u);
  EXPECT_EQ(rocm.local_bytes, 8u);
  EXPECT_THAT(KernelShapeOf("grid:x,-1,9999999999").grid, ElementsAre(0, 0, 0));
}

TEST(XSpaceNames, CopiesTellBytesAndMemory) {
  const CopyFacts facts = CopyFactsOf("kind_src:pinned kind_dst:device size:4096 dest:0 async:1");
  EXPECT_EQ(facts.bytes, 4096u);
  EXPECT_EQ(facts.source, 2);
  EXPECT_EQ(facts.destination, 3);
  EXPECT_EQ(CopyFactsOf("kind_src:1 kind_dst:3 size:1").source, 1);
  EXPECT_EQ(CopyFactsOf("kind:Unknown num_bytes:77").bytes, 77u);
  EXPECT_FALSE(CopyFactsOf("size:many").bytes.has_value());
}

TEST(XSpaceNames, WorkIsClassedByItsName) {
  EXPECT_EQ(WorkNameOf("MemcpyH2D").kind, 1);
  EXPECT_EQ(WorkNameOf("MemcpyD2H").kind, 2);
  EXPECT_EQ(WorkNameOf("MemcpyD2D").kind, 8);
  EXPECT_EQ(WorkNameOf("MemcpyP2P").kind, 10);
  EXPECT_EQ(WorkNameOf("MEMCPYHToD").kind, 1);
  EXPECT_TRUE(WorkNameOf("MemcpyOther").is_copy);
  EXPECT_EQ(WorkNameOf("MemcpyOther").kind, 0);
  EXPECT_TRUE(WorkNameOf("Memset").is_set);
  EXPECT_TRUE(WorkNameOf("__amd_rocclr_copyBuffer.kd").is_copy);
  EXPECT_TRUE(WorkNameOf("__amd_rocclr_fillBufferAligned.kd").is_set);
  EXPECT_FALSE(WorkNameOf("copy_fusion").is_copy);
}

TEST(XSpaceNames, NamesOfHostEvents) {
  EXPECT_EQ(HostEventOf("$profiler.py:101 start_trace"), HostEvent::kPython);
  EXPECT_EQ(HostEventOf("NVTX:a:b"), HostEvent::kRange);
  EXPECT_EQ(HostEventOf("MemoryDeallocation"), HostEvent::kRelease);
  EXPECT_EQ(HostEventOf("TraceContext"), HostEvent::kStep);
  EXPECT_EQ(PythonNameOf("$profiler.py:101 start_trace"), "profiler.py(101): start_trace");
  EXPECT_EQ(PythonNameOf("$builtins isinstance"), "builtins.isinstance");
  EXPECT_EQ(PythonNameOf("$<unknown> __exit__"), "<unknown>.__exit__");
  EXPECT_EQ(PythonNameOf("$nn.Module: Linear_0"), "nn.Module: Linear_0");
  EXPECT_EQ(PythonNameOf("$<built-in method numel of Tensor object at 0x7f>"),
            "<built-in method numel of Tensor object at 0x7f>");
  EXPECT_EQ(PythonNameOf("$"), "");
  const EncodedName encoded = EncodedNameOf("Execute#id=3,kind=a=b,alone#");
  EXPECT_EQ(encoded.name, "Execute");
  EXPECT_THAT(encoded.values, ElementsAre(Pair("id", "3"), Pair("kind", "a=b")));
  EXPECT_EQ(EncodedNameOf("plain").name, "plain");
  EXPECT_EQ(EncodedNameOf("#").name, "#");
  EXPECT_EQ(EncodedNameOf("operator()#2").name, "operator()#2");
  EXPECT_EQ(NvtxNameOf("NVTX:domain:name:more").domain, "domain");
  EXPECT_EQ(NvtxNameOf("NVTX:domain:name:more").name, "name:more");
  EXPECT_EQ(NvtxNameOf("NVTX:name").name, "name");
}

TEST(XSpaceNames, ApisAreToldFromOtherNames) {
  bool is_driver = false;
  EXPECT_TRUE(IsApiName("cuLaunchKernel", &is_driver));
  EXPECT_TRUE(is_driver);
  EXPECT_TRUE(IsApiName("cudaMemcpyAsync", &is_driver));
  EXPECT_FALSE(is_driver);
  EXPECT_TRUE(IsApiName("hipModuleLaunchKernel", &is_driver));
  EXPECT_FALSE(IsApiName("cudnn-conv.1", &is_driver));
  EXPECT_FALSE(IsApiName("custom_call", &is_driver));
  EXPECT_TRUE(IsLaunchOfXla("hipMemcpyDtoDAsync"));
  EXPECT_TRUE(IsLaunchOfXla("cuMemsetD32Async"));
  EXPECT_FALSE(IsLaunchOfXla("cuEventRecord"));
}

TEST(XSpaceNames, LinesNameTheirThreads) {
  EXPECT_EQ(ThreadOfLine(1ll << 32, "Host Threads/583/NVTX"), 583);
  EXPECT_EQ(ThreadOfLine(12, "python"), 12);
  EXPECT_EQ(ThreadName("tf_pool/-77", -77), "tf_pool");
  EXPECT_EQ(ThreadName("tf_pool/8", 9), "tf_pool/8");
  EXPECT_EQ(ThreadName("Host Threads/583", 583), "");
  EXPECT_EQ(HloNameOf("%fusion.3 = f32[4] fusion(%a)"), "fusion.3");
}

}  // namespace
}  // namespace gpuprof::analysis::import
