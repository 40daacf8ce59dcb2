// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the page calls: opens a bundle among the files that the page offers, and answers questions
// about it. One bundle at a time. Texts are UTF-8 in the engine's memory. The page copies a
// question to gpuprof_room(), calls gpuprof_ask(), and reads the answer before the next call.

#include <google/protobuf/message.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/render/json.h"
#include "analysis/steps/step_marks.h"
#include "analysis/timeline/page_timeline.h"
#include "analysis/wasm/bundle_parts.h"
#include "analysis/wasm/platform/modules.h"

namespace {

using gpuprof::analysis::MakePageInput;
using gpuprof::analysis::OpenOptions;
using gpuprof::analysis::PageInput;
using gpuprof::analysis::PageTimeline;
using gpuprof::analysis::ResultName;

enum class Outcome : int32_t { kAnswer = 0, kFault = 1 };

struct Engine {
  std::shared_ptr<PageInput> input;
  std::unique_ptr<PageTimeline> timeline, rough;
  std::string text;  // a question, then its answer
};

Engine& TheEngine() {
  static Engine* const engine = new Engine;
  return *engine;
}

Outcome Fault(std::string why) {
  TheEngine().text = std::move(why);
  return Outcome::kFault;
}

Outcome Ask(const std::string& name) {
  Engine& engine = TheEngine();
  if (engine.input == nullptr) return Fault("No recording is open.");
  ResultName asked;
  if (std::string wrong = ReadResultName(name, &asked); !wrong.empty())
    return Fault(std::move(wrong));
  std::unique_ptr<google::protobuf::Message> result;
  if (const auto error = RunForPage(engine.input.get(), asked.pass, asked.options, &result))
    return Fault(error.message);
  engine.text.clear();
  const auto take = [](void* to, std::string_view piece) {
    static_cast<std::string*>(to)->append(piece);
    return true;
  };
  gpuprof::analysis::Output out(take, &engine.text);
  gpuprof::analysis::WriteJson(*result, &out);
  return Outcome::kAnswer;
}

}  // namespace

#define GPUPROF_EXPORT(name) extern "C" __attribute__((export_name(#name))) auto name

// Returns room for a text of so many bytes, which the next call reads.
GPUPROF_EXPORT(gpuprof_room)(size_t bytes)->char* {
  TheEngine().text.assign(bytes, 0);
  return TheEngine().text.data();
}

// Takes the path of a bundle's folder as the input of all questions. Only names are read yet.
GPUPROF_EXPORT(gpuprof_open)()->void {
  Engine& engine = TheEngine();
  gpuprof::analysis::UseCodeNames(engine.text);
  OpenOptions options;
  std::shared_ptr<const std::vector<gpuprof::analysis::StepMark>> steps;
  gpuprof::analysis::ReadBundleParts(engine.text, &options, &steps);
  // A browser has little memory, and most questions read few columns.
  options.lazy = true;
  engine.input = MakePageInput(engine.text, options);
  engine.timeline = std::make_unique<PageTimeline>(engine.text, options, false, steps);
  engine.rough = std::make_unique<PageTimeline>(engine.text, options, true);
}

// Takes the name of a result (ReadResultName). Returns 0: the text is the answer, JSON as `gpuprof
// stats --json` prints it. 1: the text says why there is none.
GPUPROF_EXPORT(gpuprof_ask)()->int32_t {
  const std::string question = TheEngine().text;
  return static_cast<int32_t>(Ask(question));
}

// Takes a question to the timeline, and gives its answer in the same way.
// analysis/timeline/answer.h has the forms of both.
GPUPROF_EXPORT(gpuprof_ask_timeline)()->int32_t {
  Engine& engine = TheEngine();
  const std::string question = engine.text;
  if (engine.timeline == nullptr) return static_cast<int32_t>(Fault("No recording is open."));
  PageTimeline& asked = gpuprof::analysis::AsksRoughly(question) ? *engine.rough : *engine.timeline;
  if (const auto error = asked.Answer(question, &engine.text))
    return static_cast<int32_t>(Fault(error.message));
  return static_cast<int32_t>(Outcome::kAnswer);
}

// Returns where the text of the latest call is, and its length.
GPUPROF_EXPORT(gpuprof_text)()->const char* { return TheEngine().text.data(); }
GPUPROF_EXPORT(gpuprof_text_bytes)()->size_t { return TheEngine().text.size(); }
