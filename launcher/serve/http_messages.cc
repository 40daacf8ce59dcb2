// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See http_messages.h. The library reads a head from memory. Nothing of its own answers to bad
// requests goes out: they tell words of exceptions, and their status says how far it came.

#include "launcher/serve/http_messages.h"

#include <unistd.h>

#include <httplib.h>
#include <algorithm>
#include <cerrno>
#include <cstring>

namespace gpuprof::launcher {
namespace {

constexpr size_t kPiece = 1 << 20;
constexpr std::pair<const char*, const char*> kHeaders[] = {
    {"Cache-Control", "no-store"},      {"Cross-Origin-Resource-Policy", "same-origin"},
    {"Referrer-Policy", "no-referrer"}, {"X-Content-Type-Options", "nosniff"},
    {"X-Frame-Options", "DENY"},
};

// A head on its way in and an answer on its way out. Before the request is understood, nothing goes
// out.
class Exchange : public httplib::Stream {
 public:
  Exchange(std::string_view head, const HttpHandler& handler, HttpWriter* to)
      : handler_(handler), head_(head), to_(to) {}

  const HttpHandler& handler() const { return handler_; }
  HttpWriter* to() const { return to_; }

  // Versions of the library ask for different functions, so none of them is marked as an override.
  virtual ssize_t read(char* bytes, size_t size) {
    const size_t count = std::min(size, head_.size());
    if (count == 0) return -1;
    std::memcpy(bytes, head_.data(), count);
    head_.remove_prefix(count);
    return static_cast<ssize_t>(count);
  }
  virtual ssize_t write(const char* bytes, size_t size) {
    if (is_understood && !is_broken_) is_broken_ = !to_->Write({bytes, size});
    return is_broken_ ? -1 : static_cast<ssize_t>(size);
  }
  virtual bool is_readable() const { return true; }
  virtual bool is_writable() const { return !is_broken_; }
  virtual bool wait_readable() const { return true; }
  virtual bool wait_writable() const { return !is_broken_; }
  virtual time_t duration() const { return 0; }
  virtual void get_remote_ip_and_port(std::string& ip, int& port) const {
    ip = "127.0.0.1";
    port = 0;
  }
  virtual void get_local_ip_and_port(std::string& ip, int& port) const {
    get_remote_ip_and_port(ip, port);
  }
  // The library refuses large descriptors, and does nothing else with this one.
  virtual socket_t socket() const { return 0; }

  bool is_understood = false;
  bool has_body = false;

 private:
  const HttpHandler& handler_;
  std::string_view head_;
  HttpWriter* const to_;
  bool is_broken_ = false;
};

// The exchange of this thread: the library gives a handler the request alone.
thread_local Exchange* t_exchange = nullptr;

// Returns whether each line ends as lines of heads do, and each header has a name. The library
// passes over lines that are otherwise.
bool HasPlainLines(std::string_view head) {
  bool is_first = true;
  while (head != "\r\n") {
    const size_t end = head.find('\n');
    if (end == std::string_view::npos || end == 0 || head[end - 1] != '\r') return false;
    const std::string_view line = head.substr(0, end - 1);
    const bool has_control = std::any_of(line.begin(), line.end(), [](char c) {
      return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == '\x7f';
    });
    const size_t colon = line.find(':');
    const bool has_name = colon != std::string_view::npos && colon != 0 &&
                          line.substr(0, colon).find_first_of(" \t") == std::string_view::npos;
    if (has_control || (!is_first && !has_name)) return false;
    is_first = false;
    head.remove_prefix(end + 1);
  }
  return !is_first;
}

std::string Single(const httplib::Request& request, const char* name) {
  return request.get_header_value_count(name) == 1 ? request.get_header_value(name) : "";
}

// Sends a part of a file piece by piece. Returns false if the file has become shorter.
bool SendFile(const HttpAnswer& answer, size_t done, httplib::DataSink* sink) {
  std::string piece(std::min<uint64_t>(kPiece, answer.length - done), '\0');
  ssize_t got;
  do {
    got = pread(answer.file->fd(), piece.data(), piece.size(),
                static_cast<off_t>(answer.offset + done));
  } while (got < 0 && errno == EINTR);
  return got > 0 && sink->write(piece.data(), static_cast<size_t>(got));
}

HttpAnswer AnswerOf(const httplib::Request& request, const Exchange& exchange) {
  const bool is_post = request.method == "POST";
  if (!is_post && request.method != "GET" && request.method != "HEAD") {
    HttpAnswer answer = Refuse(405, "This server only answers GET and HEAD.");
    answer.headers = {{"Allow", "GET, HEAD"}};
    return answer;
  }
  std::optional<std::string> origin;
  if (request.has_header("Origin")) origin = Single(request, "Origin");
  try {
    return exchange.handler()({is_post, request.path, Single(request, "Host"),
                               Single(request, "Range"), Single(request, "If-Range"), origin,
                               Single(request, "X-Gpuprof"),
                               [to = exchange.to()] { return to->IsGone(); }});
  } catch (...) {
    return Refuse(500, "The server cannot answer this request.");
  }
}

void Respond(HttpAnswer made, httplib::Response* response) {
  const auto answer = std::make_shared<HttpAnswer>(std::move(made));
  response->status = answer->status;
  for (const auto& [name, value] : answer->headers) response->set_header(name, value);
  if (answer->file == nullptr || answer->length == 0) {
    response->set_content(answer->body, answer->type);
    return;
  }
  response->set_content_provider(answer->length, answer->type,
                                 [answer](size_t done, size_t, httplib::DataSink& sink) {
                                   return SendFile(*answer, done, &sink);
                                 });
}

}  // namespace

// The library's reader and writer of messages. It never listens itself.
class HttpMessages::Library : public httplib::Server {
 public:
  Library() {
    svr_sock_ = 0;  // the library ends an answer when it has no socket
    httplib::Headers headers;
    for (const auto& [name, value] : kHeaders) headers.emplace(name, value);
    set_default_headers(std::move(headers));
    set_pre_routing_handler([](const httplib::Request& request, httplib::Response& response) {
      if (t_exchange->is_understood) Respond(AnswerOf(request, *t_exchange), &response);
      return HandlerResponse::Handled;
    });
  }

  bool Process(Exchange* exchange, bool is_last) {
    bool is_closed = false;
    t_exchange = exchange;
    const bool is_whole =
        Read(this, *exchange, is_last, &is_closed, [exchange](httplib::Request& request) {
          exchange->has_body = (request.method != "GET" && request.method != "HEAD") ||
                               request.has_header("Content-Length") ||
                               request.has_header("Transfer-Encoding");
          // A body is not read: what follows on this connection would be no request.
          if (exchange->has_body) request.set_header("Connection", "close");
          // Ranges are the handler's, and nothing is packed: it would cost more than the way.
          request.ranges.clear();
          request.headers.erase("Accept-Encoding");
          request.headers.erase("Expect");
          exchange->is_understood = request.path.starts_with('/');
        });
    t_exchange = nullptr;
    return is_whole && !is_closed;
  }

 private:
  // From version 0.16 on the library wants to be told both addresses.
  template <typename Self, typename SetUp>
  static bool Read(Self* self, Exchange& exchange, bool is_last, bool* is_closed, SetUp set_up) {
    const std::string local = "127.0.0.1";
    if constexpr (requires {
                    self->process_request(exchange, local, 0, local, 0, is_last, *is_closed,
                                          set_up);
                  }) {
      return self->process_request(exchange, local, 0, local, 0, is_last, *is_closed, set_up);
    } else {
      return self->process_request(exchange, is_last, *is_closed, set_up);
    }
  }
};

HttpMessages::HttpMessages() : library_(std::make_unique<Library>()) {}
HttpMessages::~HttpMessages() = default;

size_t HttpMessages::HeadLength(std::string_view bytes) {
  constexpr std::string_view kEnd = "\n\r\n";
  const size_t end = bytes.find(kEnd);
  return end == std::string_view::npos ? 0 : end + kEnd.size();
}

std::string_view HttpMessages::TargetOf(std::string_view head) {
  const size_t begin = head.find(' ');
  if (begin == std::string_view::npos) return "";
  const std::string_view rest = head.substr(begin + 1);
  return rest.substr(0, rest.find_first_of(" \r\n"));
}

std::string_view HttpMessages::BadRequest() {
  static const std::string answer = [] {
    constexpr std::string_view kWords = "The request is not one of HTTP/1.1.\n";
    std::string text = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n";
    for (const auto& [name, value] : kHeaders) text += std::string(name) + ": " + value + "\r\n";
    text += "Content-Length: " + std::to_string(kWords.size()) +
            "\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n";
    return text.append(kWords);
  }();
  return answer;
}

bool HttpMessages::Serve(std::string_view head, const HttpHandler& handler, bool is_last,
                         HttpWriter* to) const {
  Exchange exchange(head, handler, to);
  bool may_go_on = false;
  if (HasPlainLines(head)) {
    try {
      may_go_on = library_->Process(&exchange, is_last);
    } catch (...) {
      t_exchange = nullptr;
    }
  }
  if (!exchange.is_understood) to->Write(BadRequest());
  return may_go_on && exchange.is_understood && !exchange.has_body && !is_last;
}

}  // namespace gpuprof::launcher
