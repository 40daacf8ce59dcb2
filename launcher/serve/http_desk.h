// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Keeps the connections that wait: one thread waits for the heads of all requests together. Any
// user of the machine can connect, and clients without the key shall take no room from those with
// it. So a request goes to the threads that answer only if it is whole and has the key. All others
// are answered here.
//
// Connections wait in three groups, each with its own number of places. In a full group the
// connection that has waited longest goes. So other users push out each other alone.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "launcher/base/peer_user.h"
#include "launcher/serve/http_connection.h"
#include "launcher/serve/http_messages.h"
#include "proto/codec/open_regular.h"

namespace gpuprof::launcher {

class HttpDesk {
 public:
  // Serves a socket that listens, which outlives this object.
  HttpDesk(int listening, HttpHandlers handlers);

  // Returns empty, or why the kernel refuses.
  std::string Open();
  // Waits for requests, until Stop. On one thread.
  void Run();
  // Answers requests with the key, until Stop. On several threads.
  void Answer();
  void Stop();

 private:
  enum Group { kStrangers, kOwn, kKeyHolders, kGroups };
  using Waiting = std::list<std::unique_ptr<HttpConnection>>;
  struct Place {
    Group group;
    Waiting::iterator at;
  };

  void AcceptAll();
  void Accept(codec::OwnedFile socket);
  void Wait(std::unique_ptr<HttpConnection> connection, Group group);
  std::unique_ptr<HttpConnection> Leave(uint64_t id);
  bool DropAny();
  void Look(uint64_t id);
  bool Pass(std::unique_ptr<HttpConnection>* connection);
  void Refuse(std::unique_ptr<HttpConnection> connection);
  void End(std::unique_ptr<HttpConnection> connection, std::string_view last);
  void TakeReturned();
  void PauseOrGoOn();
  void DropLate();
  size_t WaitingCount() const;

  const int listening_;
  const HttpHandlers handlers_;
  const HttpMessages messages_;
  PeerUser users_;
  codec::OwnedFile events_, stop_, wake_;
  Waiting groups_[kGroups];
  // The places of connections by their descriptor's number.
  std::unordered_map<uint64_t, Place> places_;
  bool is_accepting_ = true;

  std::mutex mutex_;  // of what is below
  std::condition_variable changed_;
  std::deque<std::unique_ptr<HttpConnection>> whole_;      // requests for the threads that answer
  std::vector<std::unique_ptr<HttpConnection>> returned_;  // by these threads
  bool is_stopping_ = false;
};

}  // namespace gpuprof::launcher
