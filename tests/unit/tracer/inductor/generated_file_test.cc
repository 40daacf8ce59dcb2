// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads files that PyTorch's compiler writes. triton_graph.txt is what PyTorch 2.13 wrote for this
// function of model.py, whose first line is 27:
//
//   def model(x, w, b):
//       h = x @ w
//       h = torch.nn.functional.gelu(h + b)
//       y = h.softmax(-1) * 2
//       z = (y - x).sum(0)
//       return torch.relu(z + 1)

#include "tracer/inductor/generated_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace gpuprof::tracer::inductor {
namespace {

std::string TritonGraph() {
  std::ifstream in(GPUPROF_TRITON_GRAPH);
  return {std::istreambuf_iterator<char>(in), {}};
}

// As the compiler kept them beside the file, which has three more lines here.
const std::vector<LineOrigin> kTritonOrigins = {
    {211,
     "  File \"/src/model.py\", line 29, in model\n"
     "    h = torch.nn.functional.gelu(h + b)\n"
     "                                 ^^^^^^\n"},
    {219, "  File \"/src/model.py\", line 30, in model\n    y = h.softmax(-1) * 2\n        ^^^\n"},
    {224, "  File \"/src/model.py\", line 32, in model\n    return torch.relu(z + 1)\n"}};

TEST(GeneratedFileTest, ReadsKernelsOfTriton) {
  const std::string file = TritonGraph();
  ASSERT_FALSE(file.empty());
  const auto kernels = ReadGeneratedFile(file, kTritonOrigins);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "triton_per_fused__softmax_gelu_0");
  EXPECT_EQ(kernels[0].line, 62u);
  EXPECT_EQ(kernels[0].operations, "aten.gelu, aten._softmax");
  EXPECT_EQ(kernels[0].values, "h_1, softmax");
  ASSERT_EQ(kernels[0].sources.size(), 1u);
  EXPECT_EQ(kernels[0].sources[0].file, "/src/model.py");
  EXPECT_EQ(kernels[0].sources[0].line, 30u);
  EXPECT_EQ(kernels[0].sources[0].function, "model");
  EXPECT_EQ(kernels[0].sources[0].code, "y = h.softmax(-1) * 2");
  EXPECT_EQ(kernels[1].name, "triton_per_fused__softmax_add_mul_relu_sub_sum_1");
  EXPECT_EQ(kernels[1].operations,
            "aten._softmax, aten.mul, aten.sub, aten.sum, aten.add, aten.relu");
  ASSERT_EQ(kernels[1].sources.size(), 1u);
  EXPECT_EQ(kernels[1].sources[0].line, 32u);
}

// The call of a kernel for the processor is written when the next other call is: the place of that
// one comes before it.
TEST(GeneratedFileTest, APlaceBeforeALateCallIsThatOfTheNextCall) {
  const std::string file =
      "cpp_fused_gelu_0 = async_compile.cpp_pybinding(['float*'], r'''\n"
      "cpp_fused_trap = async_compile.cpp_pybinding(['float*'], r\n"
      "''')\n"
      "cpp_fused_sum_1 = async_compile.cpp_pybinding(['float*'], '''int x;''')\n"
      "async_compile.wait(globals())\n"
      "    def call(self, args):\n"
      "        buf1 = empty()\n"                 // 7
      "        buf2 = empty()\n"                 // 8
      "        cpp_fused_gelu_0(buf1)\n"         // 9
      "        extern_kernels.mm(buf1, buf2)\n"  // 10
      "        buf3 = empty()\n"                 // 11
      "        cpp_fused_sum_1(buf3)\n"          // 12
      "        del cpp_fused_sum_1(\n";
  const std::string at = "  File \"m.py\", line ";
  const std::vector<std::string> stacks = {at + "1, in f\n", at + "2, in f\n", at + "3, in f\n"};
  const auto kernels = ReadGeneratedFile(file, {{7, stacks[0]}, {8, stacks[1]}, {11, stacks[2]}});
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "cpp_fused_gelu_0");
  ASSERT_EQ(kernels[0].sources.size(), 1u);
  EXPECT_EQ(kernels[0].sources[0].line, 1u);
  ASSERT_EQ(kernels[1].sources.size(), 1u);
  EXPECT_EQ(kernels[1].sources[0].line, 3u);
  EXPECT_EQ(kernels[1].operations, "");
}

TEST(GeneratedFileTest, AKernelThatIsCalledTwiceHasTwoPlaces) {
  const std::string file =
      "# Source Nodes: [y], Original ATen: [aten.sin]\n"
      "k_0 = async_compile.triton('k_0', '''\n''', device_str='cuda')\n"
      "def call(args):\n"
      "    k_0.run(a)\n"
      "    b = 1\n"
      "    k_0.run(b)\n"
      "    k_0.run(c)\n";
  const auto kernels = ReadGeneratedFile(
      file, {{4, "  File \"a.py\", line 5, in f\n"}, {6, "  File \"b.py\", line 6, in g\n"}});
  ASSERT_EQ(kernels.size(), 1u);
  ASSERT_EQ(kernels[0].sources.size(), 2u);
  EXPECT_EQ(kernels[0].sources[0].file, "a.py");
  EXPECT_EQ(kernels[0].sources[1].file, "b.py");
  EXPECT_EQ(kernels[0].sources[1].function, "g");
  EXPECT_EQ(kernels[0].operations, "aten.sin");
}

// Kernels of the program's own have another name in the file. With one option of the compiler all
// kernels have the name triton_ on the GPU.
TEST(GeneratedFileTest, TheNameIsThatOnTheGpu) {
  const auto kernels = ReadGeneratedFile(
      "mine_0 = async_compile.triton('mine', '''\n''')\n"
      "triton_poi_fused_add_0 = async_compile.triton('triton_', '''\n''')\n",
      {});
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].name, "mine");
  EXPECT_EQ(kernels[1].name, "triton_poi_fused_add_0");
  EXPECT_TRUE(kernels[0].sources.empty());
}

TEST(GeneratedFileTest, TheInnermostFrameOutsideOfTorchCounts) {
  const std::string own =
      "  File \"/v/site-packages/torch/nn/modules/activation.py\", line 9, in g\n";
  const std::string user = "  File \"/src/a, b.py\", line 4, in f\n    y = g(x)\n      ^^^^\n";
  EXPECT_EQ(SourceOf(user + own).file, "/src/a, b.py");
  EXPECT_EQ(SourceOf(user + own).code, "y = g(x)");
  EXPECT_EQ(SourceOf(own).line, 9u);
  EXPECT_EQ(SourceOf(user + "  File \"/src/c.py\", line 8, in h\n").line, 8u);
  EXPECT_EQ(SourceOf("").line, 0u);
  EXPECT_EQ(SourceOf("  File \"x.py\", line 99999999999, in f\n").line, 0u);
  EXPECT_EQ(SourceOf("  File \"x.py\nline 3, in f\n").line, 0u);
}

// Every cut of a real file, and garbage in the place of its letters.
TEST(GeneratedFileTest, DamagedFilesAreHarmless) {
  const std::string file = TritonGraph();
  for (size_t bytes = 0; bytes < file.size(); bytes += 7) {
    const std::string cut = file.substr(0, bytes);
    EXPECT_LE(ReadGeneratedFile(cut, kTritonOrigins).size(), 2u);
  }
  uint32_t random = 1;
  for (int round = 0; round < 200; ++round) {
    std::string damaged = file;
    for (int i = 0; i < 100; ++i) {
      random = random * 1664525 + 1013904223;
      damaged[random % damaged.size()] = static_cast<char>(random >> 24);
    }
    for (const GeneratedKernel& kernel : ReadGeneratedFile(damaged, kTritonOrigins)) {
      EXPECT_FALSE(kernel.name.empty());
      EXPECT_LE(kernel.sources.size(), 16u);
    }
  }
}

}  // namespace
}  // namespace gpuprof::tracer::inductor
