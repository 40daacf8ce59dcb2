// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// bundle.pb as any program may have left it: what parses must survive being written and read again.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "proto/bundle.pb.h"

// libprotobuf would print a line for each string that is not UTF-8.
#if GOOGLE_PROTOBUF_VERSION < 4022000
static const bool is_quiet = (google::protobuf::SetLogHandler(nullptr), true);
#endif

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  gpuprof::proto::Bundle bundle;
  if (!bundle.ParseFromArray(data, static_cast<int>(size))) return 0;
  const std::string bytes = bundle.SerializeAsString();
  gpuprof::proto::Bundle again;
  if (!again.ParseFromString(bytes) || again.SerializeAsString() != bytes) std::abort();
  return 0;
}
