// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Prints what the reader of pickles finds in a file, as a literal of Python: containers and texts
// with their kind. For the test that compares it with what Python pickled. Exit status 1: refused.

#include <cstdio>
#include <string>

#include "analysis/import/byte_source.h"
#include "analysis/import/pickle_reader.h"
#include "proto/codec/input_path.h"

using gpuprof::analysis::Result;
using gpuprof::analysis::import::FileSource;
using gpuprof::analysis::import::PickleKind;
using gpuprof::analysis::import::PickleReader;
using gpuprof::analysis::import::PickleValue;

namespace {

void Print(const PickleReader& reader, PickleValue value) {
  long long number = 0;
  switch (value.kind()) {
    case PickleKind::kNone:
      std::printf("None");
      break;
    case PickleKind::kBool:
      std::printf(value.payload() != 0 ? "True" : "False");
      break;
    case PickleKind::kInt:
    case PickleKind::kLargeInt: {
      int64_t whole = 0;
      reader.Int(value, &whole);
      number = whole;
      std::printf("%lld", number);
      break;
    }
    case PickleKind::kReal:
      std::printf("('real', '%a')", reader.Real(value));
      break;
    case PickleKind::kText:
      std::printf("('text', b'");
      for (const char c : reader.Text(value))
        std::printf("\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
      std::printf("')");
      break;
    case PickleKind::kBytes:
      std::printf("('bytes', %llu)", static_cast<unsigned long long>(value.payload()));
      break;
    default: {
      constexpr const char* kNames[] = {"list", "tuple", "set", "dict"};
      const int kind = static_cast<int>(value.kind()) - static_cast<int>(PickleKind::kList);
      std::printf("('%s', [", kNames[kind]);
      size_t count = 0;
      const PickleValue* const items = reader.Items(value, &count);
      for (size_t i = 0; i < count; ++i) {
        Print(reader, items[i]);
        std::printf(", ");
      }
      std::printf("])");
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto source = FileSource::Open(gpuprof::codec::InputPath(argv[1]));
  if (!source.ok()) return 2;
  PickleReader reader(source->get(), argv[1], nullptr);
  const Result<PickleValue> value = reader.Read();
  if (!value.ok()) {
    std::printf("%s\n", value.error().message.c_str());
    return 1;
  }
  Print(reader, *value);
  std::printf("\n");
  return 0;
}
