// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See breakdown_words.h.

#include "analysis/render/breakdown_words.h"

#include <iterator>

#include "analysis/base/enum_word.h"
#include "analysis/base/units.h"

namespace gpuprof::analysis {
namespace {

struct Words {
  const char* name;
  const char* meaning;
};

// By the number of the category.
constexpr Words kWords[] = {
    {"", ""},
    {"compute fp64", "kernels that compute with fp64"},
    {"compute fp32", "kernels that compute with fp32"},
    {"compute tf32", "kernels that compute with tf32"},
    {"compute bf16", "kernels that compute with bf16"},
    {"compute fp16", "kernels that compute with fp16"},
    {"compute fp8", "kernels that compute with fp8"},
    {"compute int8", "kernels that compute with int8"},
    {"compute fp4", "kernels that compute with fp4"},
    {"compute", "kernels whose type of numbers is not known"},
    {"graph", "CUDA graphs that were recorded as a whole"},
    {"collective", "collectives, while nothing computed"},
    {"copy to device", "copies from the host, while no kernel ran"},
    {"copy to host", "copies to the host, while no kernel ran"},
    {"copy on device", "copies and memsets on devices, while no kernel ran"},
    {"input", "idle: the launching thread waited for data"},
    {"output", "idle: the launching thread wrote results"},
    {"compile", "idle: the launching thread compiled or loaded code"},
    {"sync", "idle: the launching thread waited for the device"},
    {"profiler", "idle: the profiler held up the launching thread"},
    {"host late", "idle: the host had not launched the next work"},
    {"launch", "idle: the next work was being launched or began behind the work before it"},
    {"dependency", "idle: the next work waited for another stream, an event or the host"},
    {"unexplained", "idle: no next work, or its launch is not in the recording"},
};
static_assert(std::size(kWords) == results::TimeCategory_ARRAYSIZE);

}  // namespace

std::string TimeCategoryWords(results::TimeCategory category) {
  return category >= 0 && category < results::TimeCategory_ARRAYSIZE ? kWords[category].name : "";
}

std::string TimeCategoryMeaning(results::TimeCategory category) {
  return category >= 0 && category < results::TimeCategory_ARRAYSIZE ? kWords[category].meaning
                                                                     : "";
}

std::string IdleMeaning(results::TimeCategory category) {
  constexpr std::string_view kIdle = "idle: ";
  // A gap between two pieces of work always has a next one.
  if (category == results::TIME_CATEGORY_UNEXPLAINED)
    return "the launch of the next work is not in the recording";
  const std::string meaning = TimeCategoryMeaning(category);
  return meaning.rfind(kIdle, 0) == 0 ? meaning.substr(kIdle.size()) : meaning;
}

std::string CategoryCell(const results::CategoryTime& part) {
  return TimeCategoryWords(part.category());
}
std::string MeaningCell(const results::CategoryTime& part) {
  return TimeCategoryMeaning(part.category());
}

TextTable TimesTable(const google::protobuf::RepeatedPtrField<results::CategoryTime>& times) {
  const TableRows rows = {PointersTo(times), PointersTo(times)};
  return MakeTable(TimesLayout(""), rows, results::CategoryTime::default_instance(), {});
}

}  // namespace gpuprof::analysis
