// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One request to one process over its control socket, without ever waiting: control_client.cc holds
// the conversations with all processes at once. The names of sockets prove nothing, since any user
// may choose them. A name counts once the kernel says that the process itself listens there.

#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/control/control_client.h"

namespace gpuprof::launcher {

// Returns whether the process that listens is the one that the name says.
bool IsNamedProcess(const Endpoint& name, const ucred& peer);

// Finds out who listens at a name, and says nothing to the listener. Returns an errno, or 0.
// EAGAIN: the queue is full. A listener that has no number here gets 0.
int FindPeer(const Endpoint& name, ucred* peer);

class Conversation {
 public:
  // Prepares a request to one process. `names`: the best first. `verb`: without a newline.
  Conversation(const std::vector<Endpoint>& names, const std::string& verb);
  ~Conversation();
  Conversation(const Conversation&) = delete;
  Conversation& operator=(const Conversation&) = delete;

  // Sends the request to the first name that holds. A name whose queue is full is tried again at
  // the next call, an abstract name only until `gives_up_on_abstract`.
  void Try(bool gives_up_on_abstract);
  // Reads what has come. Call when fd() is readable.
  void Receive();
  // Ends the conversation if its process is stopped.
  void LookWhetherStopped();
  // Ends the conversation: the time is over.
  void GiveUp(int timeout_ms);

  bool is_done() const { return is_done_; }
  bool is_asked() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  const Answer& answer() const { return answer_; }

 private:
  enum class Attempt { kAsked, kBusy, kNobody, kForeign, kFailed };
  Attempt Ask(const Endpoint& name);
  // Sends the line, and these descriptors with it.
  bool Send(const std::vector<int>& files) const;
  void Drop(size_t at, Attempt why);
  void Fail(int error);
  void Close();

  std::vector<Endpoint> names_;  // that may still hold
  size_t asked_ = 0;             // the name of them that was asked
  std::string line_;
  int fd_ = -1;
  int error_ = 0;
  bool was_foreign_ = false;
  bool is_done_ = false;
  int timeout_ms_ = 0;
  std::string text_;
  Answer answer_;
};

}  // namespace gpuprof::launcher
