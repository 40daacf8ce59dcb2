// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Names of TensorFlow's marks are cut into a head and values.

#include "inject/tensorflow/trace_me.h"

#include <gtest/gtest.h>

#include <string>

namespace gpuprof::inject::tensorflow {
namespace {

struct Parts {
  std::string head, values;
  bool operator==(const Parts&) const = default;
};

Parts Split(const std::string& name, uint32_t most = 4096) {
  const NameParts parts = SplitName(name.data(), name.size(), most);
  return {name.substr(0, parts.head_bytes),
          parts.values == nullptr ? "" : std::string(parts.values, parts.value_bytes)};
}

TEST(TraceMe, HeadAndValues) {
  EXPECT_EQ(Split("EagerExecute#eager_op=Mul,is_func=0#"),
            (Parts{"EagerExecute", "eager_op=Mul,is_func=0"}));
  EXPECT_EQ(Split("dense/MatMul:MatMul"), (Parts{"dense/MatMul:MatMul", ""}));
  EXPECT_EQ(Split("#a=1#"), (Parts{"", "a=1"}));
  EXPECT_EQ(Split(""), (Parts{"", ""}));
}

TEST(TraceMe, SignsThatAreNoValues) {
  EXPECT_EQ(Split("step #4"), (Parts{"step #4", ""}));
  EXPECT_EQ(Split("name##"), (Parts{"name##", ""}));
  EXPECT_EQ(Split("name#"), (Parts{"name#", ""}));
  EXPECT_EQ(Split("#"), (Parts{"#", ""}));
}

TEST(TraceMe, ValuesThatDoNotFitAreLeftOutWhole) {
  EXPECT_EQ(Split("n#a=1,b=22,c=3#", 9), (Parts{"n", "a=1,b=22"}));
  EXPECT_EQ(Split("n#a=1,b=22,c=3#", 8), (Parts{"n", "a=1,b=22"}));
  EXPECT_EQ(Split("n#a=1,b=22,c=3#", 7), (Parts{"n", "a=1"}));
  EXPECT_EQ(Split("n#a=12345#", 4), (Parts{"n", ""}));
  EXPECT_EQ(Split("n#a=1#", 3), (Parts{"n", "a=1"}));
}

}  // namespace
}  // namespace gpuprof::inject::tensorflow
