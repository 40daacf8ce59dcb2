// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// `gpuprof schema`: the tables of the trace format, the results of passes, and the tables of SQL.
// Reads no file.

#include <nlohmann/json.hpp>

#include "analysis/query/query.h"
#include "launcher/command.h"
#include "launcher/reading/reading.h"

namespace gpuprof::launcher {
namespace {

class Schema : public Verb {
 public:
  void Declare(Options* options) override { options->Flag("--json", &json_, "Print JSON"); }

  int Execute(const Options&) override {
    if (json_) {
      auto all = nlohmann::ordered_json::parse(analysis::SchemaJson());
      all["sql"] = nlohmann::ordered_json::parse(analysis::QuerySchemaJson());
      PutOut(all.dump(2) + "\n");
    } else {
      PutOut(analysis::SchemaText() + "\n" + analysis::QuerySchemaText());
    }
    return kExitOk;
  }

 private:
  bool json_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeSchema() { return std::make_unique<Schema>(); }

}  // namespace gpuprof::launcher
