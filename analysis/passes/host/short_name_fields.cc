// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See short_name_fields.h.

#include "analysis/passes/host/short_name_fields.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/symbols/function_name.h"
#include "analysis/symbols/short_names.h"
#include "proto/results/graphs.pb.h"
#include "proto/results/kernels.pb.h"
#include "proto/results/ops.pb.h"
#include "proto/results/streams.pb.h"

namespace gpuprof::analysis {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

class Filler {
 public:
  // Collects the rows that lack a short name.
  void Visit(Message* message) {
    const Descriptor* type = message->GetDescriptor();
    const auto* reflection = message->GetReflection();
    const FieldDescriptor* name = type->FindFieldByName("name");
    const FieldDescriptor* short_name = type->FindFieldByName("short_name");
    if (name != nullptr && short_name != nullptr) {
      std::string full = reflection->GetString(*message, name);
      if (!full.empty() && reflection->GetString(*message, short_name).empty())
        Add(message, short_name, std::move(full));
    }
    std::vector<const FieldDescriptor*> fields;
    reflection->ListFields(*message, &fields);
    for (const FieldDescriptor* field : fields) {
      if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
      if (!field->is_repeated()) {
        Visit(reflection->MutableMessage(message, field));
        continue;
      }
      for (int i = 0; i < reflection->FieldSize(*message, field); ++i)
        Visit(reflection->MutableRepeatedMessage(message, field, i));
    }
  }

  // Kernels last: their short names depend on one another.
  void Finish() {
    std::set<std::string> names;
    for (const auto& [row, full] : kernels_) names.insert(full);
    const std::map<std::string, std::string> short_names = ShortKernelNames(names);
    for (const auto& [row, full] : kernels_) Set(row, short_names.at(full));
  }

 private:
  static bool IsOfKernels(const Descriptor* type) {
    return type == results::Kernel::descriptor() || type == results::Graph::descriptor() ||
           type == results::StreamWait::descriptor();
  }

  static void Set(Message* message, const std::string& text) {
    message->GetReflection()->SetString(
        message, message->GetDescriptor()->FindFieldByName("short_name"), text);
  }

  void Add(Message* message, const FieldDescriptor* short_name, std::string full) {
    const Descriptor* type = message->GetDescriptor();
    if (IsOfKernels(type)) {
      kernels_.emplace_back(message, std::move(full));
    } else if (type == results::Op::descriptor()) {
      message->GetReflection()->SetString(message, short_name, ShortOpName(full));
    } else {
      auto [known, is_new] = functions_.try_emplace(std::move(full));
      if (is_new) known->second = ShortFunctionName(known->first);
      message->GetReflection()->SetString(message, short_name, known->second);
    }
  }

  std::vector<std::pair<Message*, std::string>> kernels_;
  std::unordered_map<std::string, std::string> functions_;
};

}  // namespace

void FillShortNames(Message* result) {
  Filler filler;
  filler.Visit(result);
  filler.Finish();
}

}  // namespace gpuprof::analysis
