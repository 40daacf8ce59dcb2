// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See remote_call.h.

#include "launcher/agent/remote_call.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "launcher/agent/grpc_frames.h"

namespace gpuprof::launcher {
namespace {

// Room for an answer on its way: a long distance needs much.
constexpr int32_t kWindowBytes = 16 << 20;
constexpr uint32_t kFrameBytes = 1 << 20;
constexpr size_t kMostWordBytes = 500;
constexpr char kNoHttp2[] = "the other end does not speak HTTP/2, as profiler servers do";

std::string_view View(const uint8_t* bytes, size_t length) {
  return {reinterpret_cast<const char*>(bytes), length};
}

}  // namespace

struct RemoteCall::Work {
  explicit Work(RemoteRequest from)
      : request(std::move(from)), reader(request.most_answer_bytes, request.sink) {}

  RemoteRequest request;
  GrpcMessageReader reader;
  nghttp2_session* session = nullptr;
  int32_t stream = 0;
  std::string out;  // the message with its head
  size_t sent = 0;
  std::string http_status, words;
  std::optional<int> status;
  bool is_done = false;
  std::string fault;

  void Fail(std::string why) {
    if (is_done) return;
    is_done = true;
    fault = std::move(why);
  }

  // The stream has ended.
  void Finish(uint32_t error) {
    if (is_done) return;
    if (status && *status != 0) {
      std::string name = GrpcStatusName(*status);
      if (!words.empty()) name += ": " + words;
      return Fail("the server answers " + name);
    }
    if (!reader.words().empty()) return Fail("the answer cannot be used: " + reader.words());
    if (!http_status.empty() && http_status != "200")
      return Fail("the server answers HTTP " + http_status + ", as other servers do");
    if (error != NGHTTP2_NO_ERROR)
      return Fail(std::string("the server broke the call off: ") + nghttp2_http2_strerror(error));
    if (!status || !reader.IsWhole()) return Fail("the answer is cut");
    is_done = true;
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_bytes, const uint8_t* value, size_t value_bytes, uint8_t,
                      void* user) {
    auto* work = static_cast<Work*>(user);
    if (frame->hd.stream_id != work->stream) return 0;
    const std::string_view key = View(name, name_bytes), text = View(value, value_bytes);
    if (key == ":status") work->http_status = text.substr(0, kMostWordBytes);
    if (key == "grpc-message") work->words = UnescapeGrpcWords(text.substr(0, kMostWordBytes));
    int code = 0;
    if (key == "grpc-status" &&
        std::from_chars(text.data(), text.data() + text.size(), code).ec == std::errc())
      work->status = code;
    return 0;
  }

  static int OnData(nghttp2_session* session, uint8_t, int32_t stream, const uint8_t* bytes,
                    size_t length, void* user) {
    auto* work = static_cast<Work*>(user);
    if (stream != work->stream || !work->reader.words().empty()) return 0;
    if (work->reader.Feed(View(bytes, length)) != GrpcStatus::kOk)
      nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, stream, NGHTTP2_CANCEL);
    return 0;
  }

  static int OnClose(nghttp2_session*, int32_t stream, uint32_t error, void* user) {
    auto* work = static_cast<Work*>(user);
    if (stream == work->stream) work->Finish(error);
    return 0;
  }

  static ssize_t ReadMessage(nghttp2_session*, int32_t, uint8_t* room, size_t most, uint32_t* flags,
                             nghttp2_data_source* source, void*) {
    auto* work = static_cast<Work*>(source->ptr);
    const size_t piece = std::min(most, work->out.size() - work->sent);
    std::copy_n(work->out.data() + work->sent, piece, room);
    work->sent += piece;
    if (work->sent == work->out.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(piece);
  }

  bool Submit() {
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, static_cast<uint32_t>(kWindowBytes)},
        {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, kFrameBytes}};
    std::vector<std::pair<std::string, std::string>> texts = {
        {":method", "POST"},       {":scheme", "http"},
        {":path", request.method}, {":authority", request.authority},
        {"te", "trailers"},        {"content-type", "application/grpc"},
        {"user-agent", "gpuprof"}, {"grpc-timeout", FormatGrpcTimeout(request.timeout)}};
    if (!request.token.empty()) texts.emplace_back("authorization", "Bearer " + request.token);
    std::vector<nghttp2_nv> headers;
    for (auto& [name, value] : texts) {
      const uint8_t flags =
          name == "authorization" ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE;
      headers.push_back({reinterpret_cast<uint8_t*>(name.data()),
                         reinterpret_cast<uint8_t*>(value.data()), name.size(), value.size(),
                         flags});
    }
    nghttp2_data_provider provider = {};
    provider.source.ptr = this;
    provider.read_callback = ReadMessage;
    if (nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, settings, std::size(settings)) != 0 ||
        nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, kWindowBytes) != 0)
      return false;
    stream = nghttp2_submit_request(session, nullptr, headers.data(), headers.size(), &provider,
                                    nullptr);
    return stream > 0;
  }
};

RemoteCall::RemoteCall(RemoteRequest request) : work_(std::make_unique<Work>(std::move(request))) {
  work_->out =
      GrpcHead(static_cast<uint32_t>(work_->request.message.size())) + work_->request.message;
  nghttp2_session_callbacks* callbacks = nullptr;
  if (nghttp2_session_callbacks_new(&callbacks) == 0) {
    nghttp2_session_callbacks_set_on_header_callback(callbacks, Work::OnHeader);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Work::OnData);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Work::OnClose);
    nghttp2_session_client_new(&work_->session, callbacks, work_.get());
    nghttp2_session_callbacks_del(callbacks);
  }
  if (work_->session == nullptr || !work_->Submit()) work_->Fail("not enough memory for a call");
}

RemoteCall::~RemoteCall() { nghttp2_session_del(work_->session); }

void RemoteCall::Receive(std::string_view bytes) {
  if (work_->is_done) return;
  const ssize_t taken = nghttp2_session_mem_recv(
      work_->session, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  if (taken < 0 || static_cast<size_t>(taken) != bytes.size()) work_->Fail(kNoHttp2);
}

void RemoteCall::Send(std::string* bytes) {
  for (;;) {
    const uint8_t* piece = nullptr;
    const ssize_t length =
        work_->session == nullptr ? 0 : nghttp2_session_mem_send(work_->session, &piece);
    if (length <= 0) break;
    bytes->append(View(piece, static_cast<size_t>(length)));
  }
  // nghttp2 has told the other end what it did wrong, and listens no more.
  if (work_->session != nullptr && nghttp2_session_want_read(work_->session) == 0)
    work_->Fail(kNoHttp2);
}

void RemoteCall::EndOfConnection() {
  work_->Fail("the server closed the connection before its answer was whole");
}

void RemoteCall::Cancel() {
  if (work_->is_done) return;
  nghttp2_submit_rst_stream(work_->session, NGHTTP2_FLAG_NONE, work_->stream, NGHTTP2_CANCEL);
  work_->Fail("it was given up");
}

bool RemoteCall::is_done() const { return work_->is_done; }
const std::string& RemoteCall::fault() const { return work_->fault; }

}  // namespace gpuprof::launcher
