// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See agent_server.h.

#include "launcher/agent/agent_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "launcher/base/text.h"

namespace gpuprof::launcher {
namespace {

using Clock = RpcCall::Clock;

// A client that connects calls at once.
constexpr std::chrono::seconds kFirstCall(10);
// Clients keep connections for later calls.
constexpr std::chrono::minutes kIdle(10);
// A client that waits for an answer takes what comes.
constexpr std::chrono::seconds kStalled(60);
constexpr std::chrono::seconds kLook(1);
constexpr size_t kOutBytes = 1 << 20;

// Answers on their way from other threads to the connections.
class Mailbox {
 public:
  struct Letter {
    uint64_t connection;
    int32_t stream;
    RpcAnswer answer;
  };
  Mailbox() : event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  int fd() const { return event_.fd(); }
  void Put(Letter letter) {
    const std::lock_guard lock(mutex_);
    letters_.push_back(std::move(letter));
    const uint64_t one = 1;
    // A full counter can be read already.
    [[maybe_unused]] const ssize_t written = write(event_.fd(), &one, sizeof one);
  }
  std::vector<Letter> Take() {
    const std::lock_guard lock(mutex_);
    uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = read(event_.fd(), &count, sizeof count);
    return std::exchange(letters_, {});
  }

 private:
  codec::OwnedFile event_;
  std::mutex mutex_;
  std::vector<Letter> letters_;
};

class Connection : public CallHandler {
 public:
  Connection(uint64_t id, codec::OwnedFile socket, Doorkeeper::Visitor visitor,
             Doorkeeper* doorkeeper, RpcService* service, std::shared_ptr<Mailbox> mailbox)
      : id_(id),
        socket_(std::move(socket)),
        visitor_(std::move(visitor)),
        doorkeeper_(doorkeeper),
        service_(service),
        mailbox_(std::move(mailbox)),
        session_(this),
        since_(Clock::now()),
        moved_(since_) {}
  ~Connection() override {
    for (auto& [stream, call] : calls_) call->Leave();
  }

  int fd() const { return socket_.fd(); }
  uint64_t id() const { return id_; }
  bool is_dead() const { return is_dead_; }
  bool HasCalls() const { return !calls_.empty() || session_.OpenCalls() != 0; }
  bool WantsToSend() const { return sent_ < out_.size(); }
  Clock::time_point moved() const { return moved_; }

  void Receive() {
    char room[64 << 10];
    for (;;) {
      const ssize_t got = recv(fd(), room, sizeof room, MSG_DONTWAIT);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && (errno == EAGAIN)) break;
      if (got <= 0 || !session_.Receive({room, static_cast<size_t>(got)})) {
        Flush();
        is_dead_ = true;
        return;
      }
      moved_ = Clock::now();
    }
    Flush();
  }

  // Sends what there is to send, until the socket is full.
  void Flush() {
    for (;;) {
      if (sent_ == out_.size()) {
        out_.clear();
        sent_ = 0;
        if (!session_.Send(&out_, kOutBytes)) is_dead_ = true;
        if (out_.empty()) break;
      }
      const ssize_t sent =
          send(fd(), out_.data() + sent_, out_.size() - sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent < 0 && errno == EINTR) continue;
      if (sent < 0) {
        is_dead_ = is_dead_ || errno != EAGAIN;
        return;
      }
      sent_ += static_cast<size_t>(sent);
      moved_ = Clock::now();
    }
    if (session_.IsOver()) is_dead_ = true;
  }

  void Answer(int32_t stream, RpcAnswer answer) {
    calls_.erase(stream);
    session_.Answer(stream, std::move(answer));
    moved_ = Clock::now();
    Flush();
  }

  // Ends a connection that is of no use.
  void Look(Clock::time_point now) {
    const bool is_stalled = WantsToSend() && now > moved_ + kStalled;
    const bool is_new = !session_.HasCalled() && now > since_ + kFirstCall;
    const bool is_idle = !HasCalls() && now > moved_ + kIdle;
    // A call whose answer is written waits for the client's window.
    const bool is_unread = session_.OpenCalls() > calls_.size() && now > moved_ + kStalled;
    if (is_stalled || is_new || is_idle || is_unread) is_dead_ = true;
  }

 private:
  void OnCall(int32_t stream, RpcRequest request) override {
    if (visitor_.needs_token && !doorkeeper_->HoldsToken(request.authorization)) {
      RpcAnswer answer;
      answer.status = GrpcStatus::kUnauthenticated;
      answer.words = "the call brings no token, or a wrong one; name its file with --token-file";
      session_.Answer(stream, std::move(answer));
      return;
    }
    const auto call =
        std::make_shared<RpcCall>(std::move(request), visitor_.user,
                                  [mailbox = mailbox_, id = id_, stream](RpcAnswer answer) {
                                    mailbox->Put({id, stream, std::move(answer)});
                                  });
    calls_[stream] = call;
    service_->Begin(call);
  }

  void OnGone(int32_t stream) override {
    const auto found = calls_.find(stream);
    if (found == calls_.end()) return;
    found->second->Leave();
    calls_.erase(found);
  }

  uint64_t id_;
  codec::OwnedFile socket_;
  Doorkeeper::Visitor visitor_;
  Doorkeeper* doorkeeper_;
  RpcService* service_;
  std::shared_ptr<Mailbox> mailbox_;
  Http2Session session_;
  std::map<int32_t, std::shared_ptr<RpcCall>> calls_;  // that wait for their answers
  std::string out_;
  size_t sent_ = 0;
  bool is_dead_ = false;
  Clock::time_point since_, moved_;
};

}  // namespace

struct AgentServer::Work {
  Doorkeeper* doorkeeper = nullptr;
  RpcService* service = nullptr;
  codec::OwnedFile listener;
  std::shared_ptr<Mailbox> mailbox = std::make_shared<Mailbox>();
  std::vector<std::unique_ptr<Connection>> connections;
  uint64_t next_id = 1;
  uint64_t refused = 0;

  void Accept() {
    for (;;) {
      SocketAddress peer;
      peer.size = sizeof peer.storage;
      codec::OwnedFile socket(accept4(listener.fd(), reinterpret_cast<sockaddr*>(&peer.storage),
                                      &peer.size, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (socket.fd() < 0) return;
      const Doorkeeper::Visitor visitor = doorkeeper->Look(socket.fd(), peer);
      if (visitor.is_refused) {
        SayRefused(peer, visitor.words);
        continue;
      }
      const int yes = 1;
      setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
      MakeRoom();
      connections.push_back(std::make_unique<Connection>(next_id++, std::move(socket), visitor,
                                                         doorkeeper, service, mailbox));
      // The server speaks first, too.
      connections.back()->Flush();
    }
  }

  // Says who was refused. A log that anybody can fill is of no use, so it ends.
  void SayRefused(const SocketAddress& peer, const std::string& words) {
    constexpr uint64_t kMostSaid = 20;
    if (++refused > kMostSaid) return;
    Say("a client at " + peer.Text() + " was refused: " + words +
        (refused == kMostSaid ? "; further ones are not reported" : ""));
  }

  // Lets the connection go that has done nothing for the longest time. One that waits for an
  // answer stays as long as others do not.
  void MakeRoom() {
    if (connections.size() < kMostConnections) return;
    const auto oldest =
        std::min_element(connections.begin(), connections.end(), [](const auto& x, const auto& y) {
          if (x->HasCalls() != y->HasCalls()) return y->HasCalls();
          return x->moved() < y->moved();
        });
    connections.erase(oldest);
  }

  void Deliver() {
    for (Mailbox::Letter& letter : mailbox->Take()) {
      const auto found =
          std::find_if(connections.begin(), connections.end(),
                       [&](const auto& each) { return each->id() == letter.connection; });
      if (found != connections.end()) (*found)->Answer(letter.stream, std::move(letter.answer));
    }
  }

  // Waits for the next event. Returns false at the end.
  bool Turn(int end) {
    std::vector<pollfd> waits = {
        {end, POLLIN, 0}, {listener.fd(), POLLIN, 0}, {mailbox->fd(), POLLIN, 0}};
    const size_t first = waits.size();
    for (const auto& connection : connections) {
      const short events = connection->WantsToSend() ? POLLIN | POLLOUT : POLLIN;
      waits.push_back({connection->fd(), events, 0});
    }
    constexpr int kLookMs = std::chrono::milliseconds(kLook).count();
    if (poll(waits.data(), waits.size(), kLookMs) < 0 && errno != EINTR) return false;
    if (waits[0].revents != 0) return false;
    const Clock::time_point now = Clock::now();
    for (size_t i = 0; i < connections.size(); ++i) {
      const short came = waits[first + i].revents;
      if ((came & POLLOUT) != 0) connections[i]->Flush();
      if ((came & (POLLIN | POLLHUP | POLLERR)) != 0) connections[i]->Receive();
      connections[i]->Look(now);
    }
    if (waits[2].revents != 0) Deliver();
    std::erase_if(connections, [](const auto& each) { return each->is_dead(); });
    if (waits[1].revents != 0) Accept();
    return true;
  }
};

AgentServer::AgentServer(Doorkeeper* doorkeeper, RpcService* service)
    : work_(std::make_unique<Work>()) {
  work_->doorkeeper = doorkeeper;
  work_->service = service;
}

AgentServer::~AgentServer() = default;

std::string AgentServer::Listen(const SocketAddress& address) {
  const auto fault = [&](const char* what) {
    std::string words = std::string(what) + " " + address.Text() + ": " + std::strerror(errno);
    if (errno == EADDRINUSE) words += "; name another port with --listen";
    return words;
  };
  work_->listener = codec::OwnedFile(
      socket(address.get()->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int fd = work_->listener.fd(), yes = 1;
  if (fd < 0) return fault("no socket can be made for");
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(fd, address.get(), address.size) != 0) return fault("cannot listen on");
  if (listen(fd, SOMAXCONN) != 0) return fault("cannot listen on");
  return "";
}

std::string AgentServer::Text() const {
  SocketAddress address;
  address.size = sizeof address.storage;
  if (getsockname(work_->listener.fd(), reinterpret_cast<sockaddr*>(&address.storage),
                  &address.size) != 0)
    return "";
  return address.Text();
}

void AgentServer::Run(int end) {
  while (work_->Turn(end)) {}
  work_->connections.clear();
}

}  // namespace gpuprof::launcher
