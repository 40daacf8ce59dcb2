// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See remote_hosts.h.

#include "launcher/agent/remote_hosts.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "launcher/agent/profiler_messages.h"
#include "launcher/agent/remote_call.h"
#include "launcher/base/temporary_folder.h"
#include "launcher/base/text.h"

namespace gpuprof::launcher {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// As long as TensorFlow's client waits: the trace is made after the capture.
constexpr milliseconds kLeastWait(60'000), kConnect(10'000);

class Host {
 public:
  Host(const HostPort& name, const RemoteOrder& order, milliseconds wait) : name_(name) {
    answer_.fault = MakeUnnamedFile(&answer_.file);
    if (answer_.fault.empty()) answer_.fault = FindAddresses(name, &addresses_);
    is_done_ = !answer_.fault.empty();
    ProfileRequest request;
    request.duration_ms = static_cast<uint64_t>(order.length.count());
    request.session_id = order.session_id;
    request.host_name = name.Text();
    RemoteRequest call;
    call.authority = name.Text();
    call.method = kProfileMethod;
    call.message = WriteProfileRequest(request);
    call.token = order.token;
    call.timeout = wait;
    call.most_answer_bytes = order.most_answer_bytes;
    call.sink = [this](std::string_view piece) { return Keep(piece); };
    call_ = std::make_unique<RemoteCall>(std::move(call));
    Connect();
  }

  bool is_done() const { return is_done_; }
  bool is_connected() const { return is_connected_; }
  pollfd Wait() const {
    const bool wants_out = !is_connected_ || sent_ < out_.size();
    return {socket_.fd(), static_cast<short>(wants_out ? POLLIN | POLLOUT : POLLIN), 0};
  }
  RemoteAnswer TakeAnswer() { return std::move(answer_); }

  void Turn(short came) {
    if (!is_connected_) {
      int error = 0;
      socklen_t size = sizeof error;
      if (came == 0) return;
      getsockopt(socket_.fd(), SOL_SOCKET, SO_ERROR, &error, &size);
      if (error != 0) return ConnectNext(error);
      is_connected_ = true;
    }
    if ((came & (POLLIN | POLLHUP | POLLERR)) != 0) Receive();
    Flush();
    if (call_->is_done()) Finish(call_->fault());
  }

  // Ends the call.
  void End(const std::string& why) {
    call_->Cancel();
    Flush();
    Finish(why);
  }

 private:
  bool Keep(std::string_view piece) {
    while (!piece.empty()) {
      const ssize_t written = write(answer_.file.fd(), piece.data(), piece.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) {
        answer_.fault = std::string("the answer finds no room: ") + std::strerror(errno) +
                        "; name another place in TMPDIR";
        return false;
      }
      answer_.bytes += static_cast<uint64_t>(written);
      piece.remove_prefix(static_cast<size_t>(written));
    }
    return true;
  }

  void Connect() {
    while (!is_done_) {
      const SocketAddress& address = addresses_[tried_];
      socket_ = codec::OwnedFile(
          socket(address.get()->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
      const int yes = 1;
      if (socket_.fd() >= 0) {
        setsockopt(socket_.fd(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        if (connect(socket_.fd(), address.get(), address.size) == 0 || errno == EINPROGRESS) return;
      }
      if (!GoToNext(errno)) return;
    }
  }
  void ConnectNext(int error) {
    if (GoToNext(error)) Connect();
  }
  // A name may have several addresses.
  bool GoToNext(int error) {
    if (++tried_ < addresses_.size()) return true;
    std::string words = std::string("no connection: ") + std::strerror(error);
    if (error == ECONNREFUSED)
      words += "; start 'gpuprof agent', or a profiler server of TensorFlow or JAX, there";
    Finish(words);
    return false;
  }

  void Receive() {
    static char room[256 << 10];  // one thread
    for (;;) {
      const ssize_t got = recv(socket_.fd(), room, sizeof room, MSG_DONTWAIT);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && (errno == EAGAIN)) return;
      if (got <= 0) return call_->EndOfConnection();
      call_->Receive({room, static_cast<size_t>(got)});
      if (call_->is_done()) return;
      Flush();
    }
  }

  void Flush() {
    call_->Send(&out_);
    while (is_connected_ && sent_ < out_.size()) {
      const ssize_t sent =
          send(socket_.fd(), out_.data() + sent_, out_.size() - sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) return;
      sent_ += static_cast<size_t>(sent);
    }
    if (sent_ == out_.size()) {
      out_.clear();
      sent_ = 0;
    }
  }

  void Finish(const std::string& fault) {
    if (is_done_) return;
    is_done_ = true;
    // Why the answer was not kept comes before what the call says of that.
    if (answer_.fault.empty()) answer_.fault = fault;
    socket_.Close();
  }

  HostPort name_;
  std::vector<SocketAddress> addresses_;
  size_t tried_ = 0;
  codec::OwnedFile socket_;
  bool is_connected_ = false, is_done_ = false;
  std::unique_ptr<RemoteCall> call_;
  std::string out_;
  size_t sent_ = 0;
  RemoteAnswer answer_;
};

}  // namespace

std::vector<RemoteAnswer> CaptureHosts(const RemoteOrder& order, int end) {
  const milliseconds wait = std::max(kLeastWait, order.length * 2);
  std::vector<std::unique_ptr<Host>> hosts;
  for (const HostPort& name : order.hosts)
    hosts.push_back(std::make_unique<Host>(name, order, wait));
  const Clock::time_point begin = Clock::now(), last = begin + wait;
  const auto is_over = [&] {
    return std::all_of(hosts.begin(), hosts.end(),
                       [](const auto& host) { return host->is_done(); });
  };
  while (!is_over()) {
    std::vector<pollfd> waits = {{end, POLLIN, 0}};
    std::vector<Host*> waiting;
    for (const auto& host : hosts) {
      if (host->is_done()) continue;
      waits.push_back(host->Wait());
      waiting.push_back(host.get());
    }
    constexpr int kLookMs = 200;
    poll(waits.data(), waits.size(), kLookMs);
    const Clock::time_point now = Clock::now();
    for (size_t i = 0; i < waiting.size(); ++i) {
      waiting[i]->Turn(waits[i + 1].revents);
      if (waiting[i]->is_done()) continue;
      if (waits[0].revents != 0) waiting[i]->End("it was given up");
      if (!waiting[i]->is_connected() && now > begin + kConnect) {
        waiting[i]->End("no connection within " + FormatSeconds(10) +
                        "; look at its address, and at firewalls");
      }
      if (now > last) {
        waiting[i]->End("no answer within " +
                        FormatSeconds(static_cast<double>(wait.count()) / 1000));
      }
    }
  }
  std::vector<RemoteAnswer> answers;
  answers.reserve(hosts.size());
  for (const auto& host : hosts) answers.push_back(host->TakeAnswer());
  return answers;
}

}  // namespace gpuprof::launcher
