// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the functions of libtorch return becomes the text of torch.profiler, and all of their memory
// goes back. Two functions with the same signatures play libtorch.

#include "tracer/torch/input_shapes.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "tracer/torch/protected_call.h"

namespace gpuprof::tracer {
namespace {

using Dims = std::vector<int64_t>;

// A list has several sizes; another input has one.
struct Input {
  std::string type;
  std::vector<Dims> sizes;
};

struct Op {
  std::vector<Input> inputs;
  bool throws_types = false, throws_sizes = false;
};

std::vector<Dims> SizesOf(const Op& op, bool flattens_lists) {
  if (op.throws_sizes) throw std::runtime_error("symbolic sizes");
  std::vector<Dims> sizes;
  for (const Input& input : op.inputs) {
    const bool is_list = input.type == "GenericList";
    if (!is_list || (flattens_lists && !input.sizes.empty())) {
      sizes.insert(sizes.end(), input.sizes.begin(), input.sizes.end());
    } else {
      sizes.emplace_back();
    }
  }
  return sizes;
}

std::vector<std::string> TypesOf(const Op& op) {
  if (op.throws_types) throw std::string("no types");
  std::vector<std::string> types;
  for (const Input& input : op.inputs) types.push_back(input.type);
  return types;
}

bool has_sizes = true, has_types = true;

void* SymbolIn(void*, const char* name) {
  if (std::strstr(name, "inputSizes") != nullptr)
    return has_sizes ? reinterpret_cast<void*>(SizesOf) : nullptr;
  if (std::strstr(name, "inputTypes") != nullptr)
    return has_types ? reinterpret_cast<void*>(TypesOf) : nullptr;
  return dlsym(RTLD_DEFAULT, name);
}

class InputShapesTest : public testing::Test {
 protected:
  void SetUp() override {
    has_sizes = has_types = true;
    ASSERT_TRUE(ProtectedCallInit(SymbolIn, nullptr));
    ASSERT_TRUE(InputShapesInit(SymbolIn, nullptr));
  }
  static std::string Read(const Op& op, uint32_t room = 4096) {
    std::string text(room, '?');
    text.resize(ReadInputs(&op, text.data(), room));
    return text;
  }
};

TEST_F(InputShapesTest, TensorsAndScalars) {
  const Op op = {{{"c10::BFloat16", {{16, 559}}}, {"float", {{}}}, {"Int", {{}}}, {"", {{}}}}};
  EXPECT_EQ(Read(op), R"(torch_inputs={"Input Dims":[[16,559],[],[],[]],)"
                      R"("Input type":["c10::BFloat16","float","Scalar",""]})");
}

TEST_F(InputShapesTest, LargeAndNegativeNumbers) {
  EXPECT_EQ(Read({{{"long int", {{INT64_MAX, INT64_MIN, -1, 0}}}}}),
            "torch_inputs={\"Input Dims\":[[9223372036854775807,-9223372036854775808,-1,0]],"
            "\"Input type\":[\"long int\"]}");
}

TEST_F(InputShapesTest, TheOnlyListOfTensors) {
  EXPECT_EQ(
      Read({{{"GenericList", {{3, 8}, {3}, {}}}, {"Int", {{}}}}}),
      R"(torch_inputs={"Input Dims":[[[3,8],[3],[]],[]],"Input type":["TensorList","Scalar"]})");
  EXPECT_EQ(Read({{{"float", {{2}}}, {"GenericList", {{3, 8}}}}}),
            R"(torch_inputs={"Input Dims":[[2],[[3,8]]],"Input type":["float","TensorList"]})");
}

TEST_F(InputShapesTest, AListOfNumbersHasNoSizes) {
  EXPECT_EQ(Read({{{"float", {{2, 3}}}, {"GenericList", {}}, {"GenericList", {}}}}),
            R"(torch_inputs={"Input Dims":[[2,3],[],[]],)"
            R"("Input type":["float","GenericList","GenericList"]})");
}

// Where one list ends and the next begins is not known.
TEST_F(InputShapesTest, SeveralListsOfTensors) {
  const Op op = {{{"GenericList", {{4}, {5}}}, {"GenericList", {{4}, {5}}}, {"float", {{7}}}}};
  EXPECT_EQ(Read(op), R"(torch_inputs={"Input Dims":[[],[],[7]],)"
                      R"("Input type":["GenericList","GenericList","float"]})");
}

TEST_F(InputShapesTest, AListThatIsTooLongCountsAsOne) {
  Op op = {{{"GenericList", std::vector<Dims>(1000, {1024, 1024})}, {"Int", {{}}}}};
  EXPECT_EQ(Read(op),
            R"(torch_inputs={"Input Dims":[[],[]],"Input type":["GenericList","Scalar"]})");
  EXPECT_EQ(Read(op, 30), "") << "no half text";
}

TEST_F(InputShapesTest, NothingToTell) {
  EXPECT_EQ(Read({}), "");
  EXPECT_EQ(Read({{{"a\"b", {{1}}}}}), "") << "no type of PyTorch, and no JSON";
  EXPECT_EQ(Read({{{std::string(60, 'x'), {{1}}}}}), "");
  EXPECT_EQ(Read({std::vector<Input>(100, {"Int", {{}}})}), "");
}

TEST_F(InputShapesTest, WithoutAFunctionThereIsNoReading) {
  has_sizes = false;
  EXPECT_FALSE(InputShapesInit(SymbolIn, nullptr));
  has_sizes = true;
  has_types = false;
  EXPECT_FALSE(InputShapesInit(SymbolIn, nullptr));
}

TEST_F(InputShapesTest, ExceptionsAreCountedAndGoNoFurther) {
  const Op good = {{{"float", {{1}}}}};
  Op no_types = good, no_sizes = good;
  no_types.throws_types = no_sizes.throws_sizes = true;
  const uint32_t before = InputsNotRead();
  EXPECT_EQ(Read(no_types), "");
  EXPECT_EQ(InputsNotRead(), before + 1);
  EXPECT_EQ(Read(no_sizes), "");
  EXPECT_EQ(InputsNotRead(), before + 2);
  EXPECT_NE(Read(good), "");
}

}  // namespace
}  // namespace gpuprof::tracer
