// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the launcher makes of other processes' words: their answers on control sockets, and the
// names in /proc/net/unix, to which any user can add. An answer is printed: no control character of
// it may be left. A value that the recorder writes must arrive as one value.

#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/analysis.h"
#include "inject/control_request.h"
#include "launcher/control/control_client.h"
#include "proto/contract.h"
#include "proto/control.h"
#include "tests/fuzz/temp_files.h"

using gpuprof::fuzz::Check;
namespace inject = gpuprof::inject;
namespace launcher = gpuprof::launcher;
namespace proto = gpuprof::proto;

namespace {

constexpr int32_t kPid = 4242, kOwnPid = 7;

launcher::Endpoint Process() {
  launcher::Endpoint process;
  process.pid = kPid;
  process.own_pid = kOwnPid;
  return process;
}

void CheckPlain(std::string_view text) {
  for (const char c : text) Check(static_cast<unsigned char>(c) >= ' ' && c != '\x7f');
}

void CheckAnswer(const std::string& text) {
  launcher::Answer answer;
  launcher::ParseAnswer(text, Process(), &answer);
  Check(answer.kind != launcher::Answer::Kind::kNobody);
  if (answer.kind == launcher::Answer::Kind::kUnreachable) Check(!answer.error.empty());
  CheckPlain(answer.error);
  for (const auto& [key, value] : answer.values) {
    CheckPlain(key);
    CheckPlain(value);
    if (key == proto::kKeyPid) Check(value == std::to_string(kPid));
    if (key == launcher::kKeyNamespacePid) Check(value == std::to_string(kOwnPid));
  }
}

// The recorder's way of writing a foreign text, and the launcher's way of reading it.
void CheckValue(const std::string& value) {
  char bytes[2048];
  inject::Text text(bytes, sizeof bytes);
  text.Add(proto::kKeyResult).Add("=ok\n");
  inject::AddValue(proto::kKeyProgram, value.c_str(), &text);
  inject::AddValue(proto::kKeyOps, "none", &text);
  launcher::Answer answer;
  launcher::ParseAnswer(bytes, Process(), &answer);
  Check(answer.kind == launcher::Answer::Kind::kOk && answer.error.empty());
  if (text.cut()) return;
  Check(answer.values.size() == 2 && answer.Get(proto::kKeyOps) == "none");
  std::string shown = value.c_str();
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < ' ') c = '?';
  }
  Check(answer.Get(proto::kKeyProgram) == gpuprof::analysis::OneLine(shown));
}

void CheckEndpoints(const uint8_t* data, size_t size) {
  static const gpuprof::fuzz::Folder folder;
  static const std::string table = folder / "unix";
  gpuprof::fuzz::WriteFile(table, data, size);
  for (const launcher::Endpoint& endpoint : launcher::FindSockets({}, table)) {
    Check(endpoint.pid > 0 && endpoint.is_abstract);
    Check(geteuid() == 0 || endpoint.uid == geteuid());
    Check(endpoint.address.starts_with(proto::kSocketFolder));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  CheckAnswer(text);
  CheckValue(text);
  CheckEndpoints(data, size);
  return 0;
}
