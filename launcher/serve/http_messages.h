// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Understands the heads of requests and writes answers. The only file with the HTTP library. Heads
// come from anybody: what cannot be understood has one answer, and that answer tells nothing. Any
// thread.

#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "launcher/serve/http_server.h"

namespace gpuprof::launcher {

// Takes the bytes of an answer.
class HttpWriter {
 public:
  virtual ~HttpWriter() = default;
  // Takes all bytes. False: the client is gone or too slow.
  virtual bool Write(std::string_view bytes) = 0;
  // Returns whether the client has hung up, or sends nothing more.
  virtual bool IsGone() { return false; }
};

// Keeps an answer in memory.
class HttpText : public HttpWriter {
 public:
  bool Write(std::string_view bytes) override {
    text_ += bytes;
    return true;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

class HttpMessages {
 public:
  HttpMessages();
  ~HttpMessages();

  // Returns how long the head at the beginning of `bytes` is, with the empty line at its end. 0: it
  // is not there yet.
  static size_t HeadLength(std::string_view bytes);
  // Returns the target of a head as it was sent: the second word.
  static std::string_view TargetOf(std::string_view head);
  // Returns the answer to everything else than a request: status 400.
  static std::string_view BadRequest();

  // Answers the request with this head. `is_last`: the connection ends then in any case. Returns
  // whether the connection may go on.
  bool Serve(std::string_view head, const HttpHandler& handler, bool is_last, HttpWriter* to) const;

 private:
  class Library;
  std::unique_ptr<Library> library_;
};

}  // namespace gpuprof::launcher
