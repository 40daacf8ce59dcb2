// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Lines of a client on their way from the thread that reads them to the thread that answers them,
// in their order. A request that the client has cancelled gets no answer. Two threads.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <string>

namespace gpuprof::launcher {

class RequestQueue {
 public:
  struct Line {
    std::string text;
    bool is_too_long = false;  // then there is no text
  };

  // What a line is, as far as the reading thread must know it. Ids are JSON.
  struct Facts {
    bool is_ping = false;
    std::string id;       // of a request; "": none
    std::string cancels;  // the id of the request that it cancels; "": none
  };
  static Facts FactsOf(const std::string& line);

  // Adds a line. Waits while the lines that nobody has taken are too many. The reading thread.
  void Push(Line line, std::string id);
  // Says that no further line comes. The reading thread.
  void Close();
  // Takes a request away, or the answer that is being made for it. The reading thread.
  void Cancel(const std::string& id);
  // Waits until all lines are answered. False: they are not after this time. The reading thread.
  bool AwaitIdle(std::chrono::milliseconds limit);

  // Waits for a line. False: all are answered, and no further one comes. The answering thread.
  bool Pop(Line* line);
  // Says that the answer to the last line is made. False: the client does not want it any more. The
  // answering thread.
  bool FinishAnswer();

 private:
  static constexpr size_t kMostLines = 256;
  static constexpr size_t kMostBytes = size_t{4} << 20;

  struct Waiting {
    Line line;
    std::string id;
  };

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Waiting> lines_;
  size_t bytes_ = 0;
  bool is_closed_ = false;
  bool is_answering_ = false;
  bool is_cancelled_ = false;  // what is being answered
  std::string answered_id_;
};

}  // namespace gpuprof::launcher
