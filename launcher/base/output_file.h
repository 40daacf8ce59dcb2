// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A new file that a verb writes piece by piece, or standard output. A name that ends in .gz makes a
// compressed file. A file that is not finished is removed. One thread.

#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace gpuprof::launcher {

class OutputFile {
 public:
  OutputFile();
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Creates the file. "-" is standard output. Returns empty, or cause and fix: an existing file is
  // not overwritten. `is_compressed`: whatever the name is.
  std::string Create(const std::string& path, bool is_compressed = false);
  // Adds a piece. Returns false after a fault, which Finish tells.
  bool Write(std::string_view text);
  // Completes the file. Returns empty, or what went wrong: then the file is gone.
  std::string Finish();

 private:
  struct Deflater;
  bool CreateUnnamed();
  bool GiveName();
  std::string BeginCompressing();
  bool WriteBytes(std::string_view bytes);
  bool Compress(std::string_view text, bool is_end);

  std::string path_;
  int fd_ = -1;
  bool is_stdout_ = false;
  bool has_name_ = false;  // others see the file already
  std::string fault_;
  std::unique_ptr<Deflater> deflater_;
};

}  // namespace gpuprof::launcher
