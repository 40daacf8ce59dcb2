// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/inductor/generated_file.h"

#include <algorithm>
#include <utility>

namespace gpuprof::tracer::inductor {
namespace {

constexpr size_t kMostKernels = 4096;  // of a file
constexpr size_t kMostSources = 16;    // of a kernel
constexpr Text kDefinition = " = async_compile.";
constexpr Text kQuotes = "'''";
constexpr Text kOwnPackage = "-packages/torch/";

bool IsNameLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Takes the next line away from a text, without its end.
Text TakeLine(Text* text) {
  const size_t end = text->find('\n');
  const Text line = text->substr(0, end);
  text->remove_prefix(end == Text::npos ? text->size() : end + 1);
  return line;
}

Text Trimmed(Text text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

Text NameAtStart(Text line) {
  size_t end = 0;
  while (end < line.size() && IsNameLetter(line[end])) ++end;
  return line.substr(0, end);
}

// Returns what stands between `before` and the next bracket that closes.
Text ListAfter(Text line, Text before) {
  const size_t at = line.find(before);
  if (at == Text::npos) return {};
  line.remove_prefix(at + before.size());
  const size_t end = line.find(']');
  return end == Text::npos ? Text() : line.substr(0, end);
}

// What the comments before a kernel or a call say.
struct Comments {
  Text operations, values;

  void Take(Text line) {
    if (const Text list = ListAfter(line, "Original ATen: ["); !list.empty()) operations = list;
    if (const Text list = ListAfter(line, "Source Nodes: ["); !list.empty()) values = list;
  }
};

// A kernel that a program wrote itself keeps its name on the GPU, and has another one in the file.
Text NameOnDevice(Text name, Text definition) {
  constexpr Text kTriton = "triton('";
  if (definition.substr(0, kTriton.size()) != kTriton) return name;
  definition.remove_prefix(kTriton.size());
  const Text given = NameAtStart(definition);
  // With this option of the compiler all kernels have one name.
  return given.empty() || given == "triton_" ? name : given;
}

struct Call {
  uint32_t line = 0;
  size_t kernel = 0;  // its number plus 1; 0: a function that is no kernel of the file
};

struct NumberedName {
  Text name;
  size_t number;
};

class FileReader {
 public:
  std::vector<GeneratedKernel> Read(Text file, const std::vector<LineOrigin>& origins) {
    for (uint32_t line = 1; !file.empty(); ++line) TakeOne(TakeLine(&file), line);
    for (size_t i = 0; i < calls_.size(); ++i) {
      if (calls_[i].kernel != 0) AddSources(i, origins);
    }
    return std::move(kernels_);
  }

 private:
  void TakeOne(Text line, uint32_t number) {
    if (is_quoted_) {
      is_quoted_ = line.find(kQuotes) == Text::npos;
      return;
    }
    const Text trimmed = Trimmed(line);
    if (!trimmed.empty() && trimmed.front() == '#') return comments_.Take(trimmed);
    const Text name = NameAtStart(trimmed);
    const Text rest = trimmed.substr(name.size());
    if (name.data() == line.data() && rest.substr(0, kDefinition.size()) == kDefinition) {
      Define(name, rest.substr(kDefinition.size()), number);
      const size_t quotes = rest.find(kQuotes);
      is_quoted_ = quotes != Text::npos && rest.find(kQuotes, quotes + 3) == Text::npos;
    } else if (trimmed.data() != line.data()) {
      TakeCall(name, rest, number);
    }
    // Between the comments of a call and the call itself a stream may be asked for.
    if (trimmed.find("get_raw_stream(") == Text::npos) comments_ = {};
  }

  void Define(Text name, Text definition, uint32_t line) {
    if (name.empty() || kernels_.size() >= kMostKernels) return;
    const Text function = NameAtStart(definition);
    if (function.empty() || function == "wait") return;
    const auto place = PlaceOf(name);
    if (place != numbers_.end() && place->name == name) return;
    numbers_.insert(place, {name, kernels_.size()});
    GeneratedKernel kernel;
    kernel.name = NameOnDevice(name, definition);
    kernel.line = line;
    kernel.operations = comments_.operations;
    kernel.values = comments_.values;
    kernels_.push_back(std::move(kernel));
    is_late_.push_back(function.substr(0, 3) == "cpp");
  }

  std::vector<NumberedName>::iterator PlaceOf(Text name) {
    return std::lower_bound(
        numbers_.begin(), numbers_.end(), name,
        [](const NumberedName& each, Text wanted) { return each.name < wanted; });
  }

  void TakeCall(Text name, Text rest, uint32_t line) {
    const auto found = PlaceOf(name);
    constexpr Text kRun = ".run(", kExtern = "extern_kernels";
    if (found == numbers_.end() || found->name != name) {
      if (name == kExtern) calls_.push_back({line, 0});
      return;
    }
    if (rest.empty() || (rest.front() != '(' && rest.substr(0, kRun.size()) != kRun)) return;
    calls_.push_back({line, found->number + 1});
    GeneratedKernel& kernel = kernels_[found->number];
    if (kernel.operations.empty()) kernel.operations = comments_.operations;
    if (kernel.values.empty()) kernel.values = comments_.values;
  }

  // The call of a kernel for the processor is written late: several places may come before it, and
  // already that of the call behind it.
  void AddSources(size_t number, const std::vector<LineOrigin>& origins) {
    const Call call = calls_[number];
    const auto behind = [&](uint32_t line) {
      return std::upper_bound(origins.begin(), origins.end(), line,
                              [](uint32_t at, const LineOrigin& each) { return at < each.line; });
    };
    auto end = behind(call.line);
    auto begin = end;
    if (!is_late_[call.kernel - 1]) {
      if (begin != origins.begin()) --begin;
    } else {
      begin = number == 0 ? origins.begin() : behind(calls_[number - 1].line);
      const bool is_last = number + 1 == calls_.size();
      const bool is_of_next = !is_last && end - begin > 1 && behind(calls_[number + 1].line) == end;
      if (is_of_next) --end;
      if (begin == end && begin != origins.begin()) --begin;
    }
    for (; begin != end; ++begin) AddSource(SourceOf(begin->stack), &kernels_[call.kernel - 1]);
  }

  static void AddSource(const SourceLine& source, GeneratedKernel* kernel) {
    if (source.line == 0 || kernel->sources.size() >= kMostSources) return;
    for (const SourceLine& known : kernel->sources)
      if (known.line == source.line && known.file == source.file) return;
    kernel->sources.push_back(source);
  }

  std::vector<GeneratedKernel> kernels_;
  std::vector<bool> is_late_;  // by kernel
  std::vector<Call> calls_;
  std::vector<NumberedName> numbers_;  // in the order of names
  Comments comments_;
  bool is_quoted_ = false;
};

// Reads `  File "model.py", line 12, in forward`. False: it is another line.
bool ReadFrame(Text line, SourceLine* frame) {
  constexpr Text kFile = "File \"", kLine = "\", line ", kIn = ", in ";
  line = Trimmed(line);
  if (line.substr(0, kFile.size()) != kFile) return false;
  line.remove_prefix(kFile.size());
  const size_t end = line.rfind(kLine);
  if (end == Text::npos) return false;
  frame->file = line.substr(0, end);
  line.remove_prefix(end + kLine.size());
  uint64_t number = 0;
  while (!line.empty() && line.front() >= '0' && line.front() <= '9' && number < UINT32_MAX) {
    number = number * 10 + static_cast<uint64_t>(line.front() - '0');
    line.remove_prefix(1);
  }
  if (number > UINT32_MAX) return false;
  frame->line = static_cast<uint32_t>(number);
  frame->function = line.substr(0, kIn.size()) == kIn ? line.substr(kIn.size()) : Text();
  frame->code = {};
  return true;
}

}  // namespace

SourceLine SourceOf(Text stack) {
  SourceLine found, last;
  bool has_frame = false;
  const auto keep = [&] {
    if (!has_frame) return;
    const bool is_own = last.file.find(kOwnPackage) != Text::npos;
    if (found.line == 0 || !is_own) found = last;
    const bool found_own = found.file.find(kOwnPackage) != Text::npos;
    if (is_own && found_own) found = last;
  };
  while (!stack.empty()) {
    const Text line = TakeLine(&stack);
    SourceLine frame;
    if (ReadFrame(line, &frame)) {
      keep();
      last = frame;
      has_frame = true;
    } else if (has_frame && last.code.empty() && line.substr(0, 4) == "    ") {
      last.code = Trimmed(line);
    }
  }
  keep();
  return found;
}

std::vector<GeneratedKernel> ReadGeneratedFile(Text file, const std::vector<LineOrigin>& origins) {
  return FileReader().Read(file, origins);
}

}  // namespace gpuprof::tracer::inductor
