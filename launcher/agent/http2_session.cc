// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See http2_session.h.

#include "launcher/agent/http2_session.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <map>
#include <vector>

namespace gpuprof::launcher {
namespace {

struct Call {
  RpcRequest request;
  std::string http_method, content_type;
  size_t header_bytes = 0;
  std::unique_ptr<GrpcMessageReader> reader;
  bool is_handed_over = false;  // to the handler
  bool is_answered = false;
  RpcAnswer answer;
};

std::string_view View(const uint8_t* bytes, size_t length) {
  return {reinterpret_cast<const char*>(bytes), length};
}

// Names and values must live until the headers are handed over; nghttp2 copies them then.
class Headers {
 public:
  void Add(std::string name, std::string value) {
    texts_.emplace_back(std::move(name), std::move(value));
  }
  std::vector<nghttp2_nv> Get() {
    std::vector<nghttp2_nv> all;
    for (auto& [name, value] : texts_) {
      all.push_back({reinterpret_cast<uint8_t*>(name.data()),
                     reinterpret_cast<uint8_t*>(value.data()), name.size(), value.size(),
                     NGHTTP2_NV_FLAG_NONE});
    }
    return all;
  }

 private:
  std::vector<std::pair<std::string, std::string>> texts_;
};

void AddStatus(const RpcAnswer& answer, Headers* headers) {
  headers->Add("grpc-status", std::to_string(static_cast<int>(answer.status)));
  if (!answer.words.empty()) headers->Add("grpc-message", EscapeGrpcWords(answer.words));
}

}  // namespace

struct Http2Session::Work {
  CallHandler* handler = nullptr;
  nghttp2_session* session = nullptr;
  std::map<int32_t, Call> calls;
  int resets = 0;
  bool has_called = false;
  bool is_broken = false;

  Call* Find(int32_t stream) {
    const auto found = calls.find(stream);
    return found == calls.end() ? nullptr : &found->second;
  }

  void Answer(int32_t stream, RpcAnswer answer) {
    Call* call = Find(stream);
    if (call == nullptr || call->is_answered) return;
    call->is_answered = true;
    call->answer = std::move(answer);
    Headers headers;
    headers.Add(":status", "200");
    headers.Add("content-type", "application/grpc");
    if (call->answer.status != GrpcStatus::kOk) {
      AddStatus(call->answer, &headers);
      Submit(stream, &headers, nullptr);
      return;
    }
    const auto length = static_cast<uint32_t>(call->answer.body.size());
    call->answer.body.AddInFront(GrpcHead(length));
    nghttp2_data_provider provider = {};
    provider.source.ptr = this;
    provider.read_callback = ReadBody;
    Submit(stream, &headers, &provider);
  }

  void Submit(int32_t stream, Headers* headers, nghttp2_data_provider* provider) {
    const std::vector<nghttp2_nv> all = headers->Get();
    if (nghttp2_submit_response(session, stream, all.data(), all.size(), provider) != 0)
      is_broken = true;
  }

  // Refuses what is no call of gRPC.
  void RefuseHttp(int32_t stream, Call* call) {
    call->is_answered = true;
    Headers headers;
    headers.Add(":status", "415");
    Submit(stream, &headers, nullptr);
  }

  void HandOver(int32_t stream, Call* call) {
    if (call->is_answered || call->is_handed_over) return;
    const bool is_grpc = call->content_type == "application/grpc" ||
                         call->content_type.starts_with("application/grpc+") ||
                         call->content_type.starts_with("application/grpc;");
    if (call->http_method != "POST" || !is_grpc) return RefuseHttp(stream, call);
    if (!call->reader->IsWhole()) {
      RpcAnswer answer;
      answer.status = GrpcStatus::kInvalidArgument;
      answer.words = "the message is cut";
      return Answer(stream, std::move(answer));
    }
    call->is_handed_over = true;
    has_called = true;
    handler->OnCall(stream, std::move(call->request));
  }

  static int OnBeginHeaders(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    auto* work = static_cast<Work*>(user);
    if (frame->hd.type != NGHTTP2_HEADERS || frame->headers.cat != NGHTTP2_HCAT_REQUEST) return 0;
    Call& call = work->calls[frame->hd.stream_id];
    std::string* message = &call.request.message;
    call.reader =
        std::make_unique<GrpcMessageReader>(kMostMessageBytes, [message](std::string_view piece) {
          message->append(piece);
          return true;
        });
    return 0;
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_bytes, const uint8_t* value, size_t value_bytes, uint8_t,
                      void* user) {
    auto* work = static_cast<Work*>(user);
    Call* call = work->Find(frame->hd.stream_id);
    if (call == nullptr || call->is_handed_over) return 0;
    call->header_bytes += name_bytes + value_bytes;
    if (call->header_bytes > kMostHeaderBytes) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    const std::string_view key = View(name, name_bytes), text = View(value, value_bytes);
    if (key == ":method") call->http_method = text;
    if (key == ":path") call->request.method = text;
    if (key == "content-type") call->content_type = text;
    if (key == "authorization") call->request.authorization = text;
    if (key == "grpc-timeout") call->request.timeout = ParseGrpcTimeout(text);
    return 0;
  }

  static int OnData(nghttp2_session*, uint8_t, int32_t stream, const uint8_t* bytes, size_t length,
                    void* user) {
    auto* work = static_cast<Work*>(user);
    Call* call = work->Find(stream);
    if (call == nullptr || call->is_answered || call->is_handed_over) return 0;
    const GrpcStatus status = call->reader->Feed(View(bytes, length));
    if (status == GrpcStatus::kOk) return 0;
    RpcAnswer answer;
    answer.status = status;
    answer.words = call->reader->words();
    work->Answer(stream, std::move(answer));
    return 0;
  }

  static int OnFrame(nghttp2_session*, const nghttp2_frame* frame, void* user) {
    auto* work = static_cast<Work*>(user);
    if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA) {
      if (frame->hd.type == NGHTTP2_RST_STREAM) ++work->resets;
      return 0;
    }
    Call* call = work->Find(frame->hd.stream_id);
    if (call != nullptr && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0)
      work->HandOver(frame->hd.stream_id, call);
    return 0;
  }

  static int OnClose(nghttp2_session*, int32_t stream, uint32_t, void* user) {
    auto* work = static_cast<Work*>(user);
    const auto found = work->calls.find(stream);
    if (found == work->calls.end()) return 0;
    const bool is_waiting = found->second.is_handed_over && !found->second.is_answered;
    work->calls.erase(found);
    if (is_waiting) work->handler->OnGone(stream);
    return 0;
  }

  static ssize_t ReadBody(nghttp2_session* session, int32_t stream, uint8_t* room, size_t most,
                          uint32_t* flags, nghttp2_data_source* source, void*) {
    auto* work = static_cast<Work*>(source->ptr);
    Call* call = work->Find(stream);
    if (call == nullptr) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    const int64_t got = call->answer.body.Take(reinterpret_cast<char*>(room), most);
    if (got < 0) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    if (got > 0) return static_cast<ssize_t>(got);
    *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
    Headers trailers;
    AddStatus(call->answer, &trailers);
    const std::vector<nghttp2_nv> all = trailers.Get();
    return nghttp2_submit_trailer(session, stream, all.data(), all.size()) == 0
               ? 0
               : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }

  // Frames as large as the client takes: fewer of them are faster.
  static ssize_t FrameLength(nghttp2_session*, uint8_t, int32_t, int32_t session_window,
                             int32_t stream_window, uint32_t most_in_frame, void*) {
    constexpr int64_t kMostInFrame = 256 << 10;
    const int64_t window = std::min<int64_t>(session_window, stream_window);
    return static_cast<ssize_t>(std::min({window, int64_t{most_in_frame}, kMostInFrame}));
  }
};

Http2Session::Http2Session(CallHandler* handler) : work_(std::make_unique<Work>()) {
  work_->handler = handler;
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_option* options = nullptr;
  if (nghttp2_session_callbacks_new(&callbacks) != 0 || nghttp2_option_new(&options) != 0) {
    nghttp2_session_callbacks_del(callbacks);
    work_->is_broken = true;
    return;
  }
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, Work::OnBeginHeaders);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Work::OnHeader);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Work::OnData);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Work::OnFrame);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, Work::OnClose);
  nghttp2_session_callbacks_set_data_source_read_length_callback(callbacks, Work::FrameLength);
  // Streams that are over are not kept for their priorities.
  nghttp2_option_set_no_closed_streams(options, 1);
  if (nghttp2_session_server_new2(&work_->session, callbacks, work_.get(), options) != 0)
    work_->is_broken = true;
  nghttp2_option_del(options);
  nghttp2_session_callbacks_del(callbacks);
  const nghttp2_settings_entry settings[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kMostCalls},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, kMostHeaderBytes}};
  if (!work_->is_broken && nghttp2_submit_settings(work_->session, NGHTTP2_FLAG_NONE, settings,
                                                   std::size(settings)) != 0)
    work_->is_broken = true;
}

Http2Session::~Http2Session() { nghttp2_session_del(work_->session); }

bool Http2Session::Receive(std::string_view bytes) {
  if (work_->is_broken) return false;
  const ssize_t taken = nghttp2_session_mem_recv(
      work_->session, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  if (taken < 0 || static_cast<size_t>(taken) != bytes.size()) work_->is_broken = true;
  if (work_->resets > kMostResets) work_->is_broken = true;
  return !work_->is_broken;
}

bool Http2Session::Send(std::string* bytes, size_t most) {
  while (!work_->is_broken && bytes->size() < most) {
    const uint8_t* piece = nullptr;
    const ssize_t length = nghttp2_session_mem_send(work_->session, &piece);
    if (length < 0) work_->is_broken = true;
    if (length <= 0) break;
    bytes->append(View(piece, static_cast<size_t>(length)));
  }
  return !work_->is_broken;
}

void Http2Session::Answer(int32_t stream, RpcAnswer answer) {
  if (!work_->is_broken) work_->Answer(stream, std::move(answer));
}

bool Http2Session::IsOver() const {
  return work_->is_broken || (nghttp2_session_want_read(work_->session) == 0 &&
                              nghttp2_session_want_write(work_->session) == 0);
}

size_t Http2Session::OpenCalls() const { return work_->calls.size(); }
bool Http2Session::HasCalled() const { return work_->has_called; }

void Http2Session::Close() {
  if (!work_->is_broken && nghttp2_session_terminate_session(work_->session, NGHTTP2_NO_ERROR) != 0)
    work_->is_broken = true;
}

}  // namespace gpuprof::launcher
