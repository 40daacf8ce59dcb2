// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Two threads under the C++ memory model, release and acquire, in every way that they may run.
//
// The code under test is compiled with -fsanitize=thread, but the calls that the compiler puts in
// end here instead of in the sanitizer's runtime: memory_model.cc defines them. So each access of
// the real code to the watched memory, plain or atomic, is known with its order. The threads are
// coroutines of one thread of the test. Explore() goes through every interleaving of the atomic
// accesses that the other thread can tell apart, and every value that the memory model lets each
// load see, however old. A plain access that another thread's does not happen before is a fault,
// which is also why nothing is lost by switching at atomics only.
//
// Not modelled: fences, read-modify-writes, and two threads that store to one atomic; each is
// reported as a fault if it comes.

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace gpuprof {

class MemoryModel {
 public:
  static constexpr int kThreads = 2;
  using Body = std::function<void()>;

  MemoryModel(void* memory, uint64_t bytes);
  ~MemoryModel();
  MemoryModel(const MemoryModel&) = delete;
  MemoryModel& operator=(const MemoryModel&) = delete;

  // Every atomic that is used has a name and one thread that stores to it.
  void AddAtomic(const void* address, const char* name, int writer);

  // Runs `begin`, both threads, `end` once for each way. `end` sees what both have done, and
  // returns what is wrong with it, or nothing. The first fault ends it and is returned.
  std::string Explore(const Body& begin, const std::array<Body, kThreads>& threads,
                      const std::function<std::string()>& end);
  uint64_t executions() const { return executions_; }

  // Places in the code with an acquire or a release, and what they do.
  const std::map<const void*, std::string>& ordered() const { return ordered_; }
  // From now on this place is relaxed; null: none is.
  void Weaken(const void* place) { weakened_ = place; }

  // From the instrumented code.
  uint64_t Load(const void* address, uint64_t value, int order, const void* place);
  void Store(const void* address, uint64_t value, int order, const void* place);
  void Touch(const void* address, uint64_t bytes, bool is_write);
  void Fault(const std::string& what);

 private:
  static constexpr int kMostAtomics = 8;
  using Clock = std::array<uint32_t, kThreads>;     // how far each thread has been seen
  using View = std::array<uint32_t, kMostAtomics>;  // the oldest store that may still be read
  struct Message {
    uint64_t value;
    View view;  // what who acquires it sees
    Clock clock;
  };
  struct Atomic {
    const void* address;
    const char* name;
    int writer;
    std::vector<Message> messages;
  };
  struct Thread {
    Clock clock;
    View view;
    bool ended;
  };
  struct Plain {  // eight bytes: the clock of each thread's last access
    Clock read;
    Clock written;
  };
  struct Choice {
    uint32_t taken;
    uint32_t ways;
  };

  void RunOnce(const Body& begin, const std::array<Body, kThreads>& threads);
  bool NextWay();
  uint32_t Choose(uint32_t ways);
  void Switch();
  int Find(const void* address, const char* what);
  bool IsOrdered(int index, bool is_store, int order, const void* place);
  bool Watches(const void* address) const;
  void Coroutine(int thread, const Body& body);

  const char* memory_;
  uint64_t bytes_;
  std::vector<Atomic> atomics_;
  std::array<Thread, kThreads> threads_ = {};
  std::vector<Plain> plain_;
  int running_ = -1;  // none: setup and end are not looked at
  std::vector<Choice> choices_;
  size_t next_choice_ = 0;
  uint64_t executions_ = 0;
  std::string fault_;
  std::map<const void*, std::string> ordered_;
  const void* weakened_ = nullptr;
};

}  // namespace gpuprof
