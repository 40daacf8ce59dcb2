// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Stands in for libFuzzer's driver: runs the fuzzer's function over each file of the folders named,
// so that the corpus is checked by any compiler. Files of the first folder, the seeds, are also cut
// at a few places and have single bytes changed; the others are what came of that. Exits 1 if there
// was nothing to run.

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

void RunOn(const std::vector<uint8_t>& bytes) {
  // A copy of the exact size lets a sanitizer see each byte read beyond it.
  const std::vector<uint8_t> exact(bytes.begin(), bytes.end());
  LLVMFuzzerTestOneInput(exact.data(), exact.size());
}

int RunOnFile(const std::filesystem::path& path, bool is_seed) {
  std::ifstream file(path, std::ios::binary);
  std::vector<uint8_t> bytes{std::istreambuf_iterator<char>(file),
                             std::istreambuf_iterator<char>()};
  RunOn(bytes);
  int runs = 1;
  if (!is_seed) return runs;
  const size_t step = bytes.size() / 64 + 1;
  for (size_t at = 0; at < bytes.size(); at += step) {
    RunOn({bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(at)});
    bytes[at] ^= 0x41;
    RunOn(bytes);
    bytes[at] ^= 0x41;
    runs += 2;
  }
  return runs;
}

}  // namespace

int main(int argc, char** argv) {
  int runs = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[i])) {
      if (entry.is_regular_file()) runs += RunOnFile(entry.path(), i == 1);
    }
  }
  std::printf("%d runs\n", runs);
  return runs == 0 ? 1 : 0;
}
