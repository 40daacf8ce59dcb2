// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See http_desk.h.

#include "launcher/serve/http_desk.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <thread>
#include <utility>

namespace gpuprof::launcher {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kHeadTime(10);  // for a whole head, from its first byte
constexpr seconds kIdleTime(5);   // between two requests
constexpr seconds kEndTime(1);    // for what still comes after the last answer
constexpr milliseconds kSweep(200);
constexpr int kMostRequests = 1000;   // of a connection
constexpr size_t kMostOfGroup = 128;  // connections that wait
constexpr size_t kMostWhole = 128;    // requests that wait for a thread
constexpr int kAcceptedAtOnce = 64;   // the others are looked at in between
constexpr uint64_t kListening = 1u << 31, kWake = kListening + 1, kStop = kListening + 2;

}  // namespace

HttpDesk::HttpDesk(int listening, HttpHandlers handlers)
    : listening_(listening), handlers_(std::move(handlers)) {}

std::string HttpDesk::Open() {
  events_ = codec::OwnedFile(epoll_create1(EPOLL_CLOEXEC));
  stop_ = codec::OwnedFile(eventfd(0, EFD_CLOEXEC));
  wake_ = codec::OwnedFile(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const auto watch = [this](int fd, uint64_t id) {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.u64 = id;
    return fd >= 0 && epoll_ctl(events_.fd(), EPOLL_CTL_ADD, fd, &event) == 0;
  };
  if (watch(listening_, kListening) && watch(wake_.fd(), kWake) && watch(stop_.fd(), kStop))
    return "";
  return std::string("the kernel refuses to watch connections: ") + std::strerror(errno);
}

void HttpDesk::Run() {
  HttpClock::time_point swept = HttpClock::now();
  for (;;) {
    std::array<epoll_event, 64> events;
    const int limit = WaitingCount() == 0 ? -1 : static_cast<int>(kSweep.count());
    const int ready =
        epoll_wait(events_.fd(), events.data(), static_cast<int>(events.size()), limit);
    bool is_asked = false;
    for (int i = 0; i < ready; ++i) {
      const uint64_t id = events[static_cast<size_t>(i)].data.u64;
      if (id == kStop) return;
      if (id == kListening) {
        is_asked = true;
      } else if (id == kWake) {
        TakeReturned();
      } else {
        Look(id);
      }
    }
    if (is_asked) AcceptAll();
    if (HttpClock::now() - swept < kSweep) continue;
    DropLate();
    swept = HttpClock::now();
  }
}

// New connections come last: they shall not keep those that wait from being looked at.
void HttpDesk::AcceptAll() {
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    {
      const std::lock_guard lock(mutex_);
      // Only who has the key can fill this queue. The others wait in the kernel meanwhile.
      if (whole_.size() >= kMostWhole) break;
    }
    codec::OwnedFile socket(accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.fd() >= 0) {
      Accept(std::move(socket));
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      if (!DropAny()) std::this_thread::sleep_for(milliseconds(50));
    } else if (errno != EINTR && errno != ECONNABORTED) {
      break;
    }
  }
  PauseOrGoOn();
}

void HttpDesk::Accept(codec::OwnedFile socket) {
  auto connection = std::make_unique<HttpConnection>(std::move(socket), stop_.fd());
  connection->deadline = HttpClock::now() + kIdleTime;
  // Most clients have sent their request already.
  const bool is_open = connection->Take();
  if (Pass(&connection)) return;
  if (!is_open) return Refuse(std::move(connection));
  const bool is_own = users_.Of(connection->fd()) == geteuid();
  Wait(std::move(connection), is_own ? kOwn : kStrangers);
}

// Has a connection wait in a group.
void HttpDesk::Wait(std::unique_ptr<HttpConnection> connection, Group group) {
  Waiting& waiting = groups_[group];
  if (waiting.size() >= kMostOfGroup) Leave(static_cast<uint64_t>(waiting.front()->fd()));
  const auto id = static_cast<uint64_t>(connection->fd());
  epoll_event event = {};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.u64 = id;
  if (epoll_ctl(events_.fd(), EPOLL_CTL_ADD, connection->fd(), &event) != 0) return;
  waiting.push_back(std::move(connection));
  places_[id] = {group, std::prev(waiting.end())};
}

// Takes a connection out of its group.
std::unique_ptr<HttpConnection> HttpDesk::Leave(uint64_t id) {
  const auto found = places_.find(id);
  std::unique_ptr<HttpConnection> connection = std::move(*found->second.at);
  groups_[found->second.group].erase(found->second.at);
  places_.erase(found);
  epoll_ctl(events_.fd(), EPOLL_CTL_DEL, connection->fd(), nullptr);
  return connection;
}

// Lets the connection go that has waited longest among those without a key, or else among the
// others. Returns false if none waits.
bool HttpDesk::DropAny() {
  for (const Waiting& waiting : groups_) {
    if (waiting.empty()) continue;
    Leave(static_cast<uint64_t>(waiting.front()->fd()));
    return true;
  }
  return false;
}

// Looks at a connection that has something to say.
void HttpDesk::Look(uint64_t id) {
  const auto found = places_.find(id);
  // It went after the kernel told of it.
  if (found == places_.end()) return;
  HttpConnection& connection = **found->second.at;
  const Group group = found->second.group;
  const bool had_input = connection.HasInput();
  const bool is_open = connection.Take();
  if (connection.is_ending()) {
    if (!is_open) Leave(id);
    return;
  }
  if (!had_input && connection.HasInput()) connection.deadline = HttpClock::now() + kHeadTime;
  if (is_open && connection.Head().empty() && !connection.IsTooLong()) return;
  std::unique_ptr<HttpConnection> taken = Leave(id);
  if (Pass(&taken)) return;
  if (!is_open || taken->IsTooLong()) return Refuse(std::move(taken));
  Wait(std::move(taken), group);
}

// Passes a whole request on. One without the key is answered here. Returns false if there is none.
bool HttpDesk::Pass(std::unique_ptr<HttpConnection>* connection) {
  const std::string_view head = (*connection)->Head();
  if (head.empty()) return false;
  if (handlers_.has_key(HttpMessages::TargetOf(head))) {
    const std::lock_guard lock(mutex_);
    whole_.push_back(std::move(*connection));
    changed_.notify_one();
    return true;
  }
  HttpText text;
  messages_.Serve(head, handlers_.refuse, true, &text);
  End(std::move(*connection), text.text());
  return true;
}

// Answers what is no request and will not become one. Who said nothing gets no answer.
void HttpDesk::Refuse(std::unique_ptr<HttpConnection> connection) {
  if (connection->HasInput()) End(std::move(connection), HttpMessages::BadRequest());
}

// Sends the last answer. The connection waits for its end among the strangers: it is of no use to
// anybody.
void HttpDesk::End(std::unique_ptr<HttpConnection> connection, std::string_view last) {
  connection->End(last);
  connection->deadline = HttpClock::now() + kEndTime;
  Wait(std::move(connection), kStrangers);
}

void HttpDesk::TakeReturned() {
  eventfd_t count;
  eventfd_read(wake_.fd(), &count);
  std::vector<std::unique_ptr<HttpConnection>> returned;
  {
    const std::lock_guard lock(mutex_);
    returned.swap(returned_);
  }
  for (std::unique_ptr<HttpConnection>& connection : returned) {
    if (Pass(&connection)) continue;
    const seconds time = connection->is_ending()  ? kEndTime
                         : connection->HasInput() ? kHeadTime
                                                  : kIdleTime;
    connection->deadline = HttpClock::now() + time;
    Wait(std::move(connection), kKeyHolders);
  }
  PauseOrGoOn();
}

// Stops looking for new connections while the threads have enough to do, and goes on afterwards.
void HttpDesk::PauseOrGoOn() {
  bool has_room;
  {
    const std::lock_guard lock(mutex_);
    has_room = whole_.size() < kMostWhole;
  }
  if (has_room == is_accepting_) return;
  epoll_event event = {};
  event.events = has_room ? EPOLLIN : 0u;
  event.data.u64 = kListening;
  if (epoll_ctl(events_.fd(), EPOLL_CTL_MOD, listening_, &event) == 0) is_accepting_ = has_room;
}

// Lets connections go whose time is over.
void HttpDesk::DropLate() {
  const HttpClock::time_point now = HttpClock::now();
  std::vector<uint64_t> late;
  for (const Waiting& waiting : groups_) {
    for (const auto& connection : waiting)
      if (connection->deadline <= now) late.push_back(static_cast<uint64_t>(connection->fd()));
  }
  for (const uint64_t id : late) Leave(id);
}

size_t HttpDesk::WaitingCount() const {
  size_t count = 0;
  for (const Waiting& waiting : groups_) count += waiting.size();
  return count;
}

void HttpDesk::Answer() {
  for (;;) {
    std::unique_ptr<HttpConnection> connection;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return is_stopping_ || !whole_.empty(); });
      if (is_stopping_) return;
      connection = std::move(whole_.front());
      whole_.pop_front();
    }
    const bool is_last = ++connection->requests == kMostRequests;
    connection->BeginAnswer();
    const bool goes_on =
        messages_.Serve(connection->Head(), handlers_.answer, is_last, connection.get());
    if (goes_on) {
      connection->DropHead();
    } else {
      connection->End("");
    }
    const std::lock_guard lock(mutex_);
    returned_.push_back(std::move(connection));
    eventfd_write(wake_.fd(), 1);
  }
}

void HttpDesk::Stop() {
  // It stays readable, for all threads.
  eventfd_write(stop_.fd(), 1);
  const std::lock_guard lock(mutex_);
  is_stopping_ = true;
  changed_.notify_all();
}

}  // namespace gpuprof::launcher
