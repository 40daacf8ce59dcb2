// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/thread_exit.h"

#include <pthread.h>

#include "inject/control_thread.h"
#include "inject/hooks/locks.h"
#include "inject/last_thread.h"
#include "inject/marked_captures.h"
#include "inject/raw_syscall.h"
#include "inject/real_symbols.h"
#include "inject/recorder.h"
#include "inject/state.h"

namespace gpuprof::inject {
namespace {

pthread_key_t g_key;
bool g_have_key = false;

void OnKeyDestroyed(void* value) {
  ThreadState& thread = t_thread;
  // Without a ring nothing is known of a wait, and asking would count an event.
  if (++thread.exiting == 1 && thread.ring != nullptr) EndWaitOfEndedThread();
  if (thread.exiting < kLastExitRound) {
    real.pthread_setspecific(g_key, value);  // once more, behind the other libraries' destructors
    return;
  }
  {
    Recorder recorder(proto::kSourceThreads);
    if (recorder.active()) {
      // It may have named itself behind our back (PR_SET_NAME).
      raw::Call(SYS_prctl, 16 /* PR_GET_NAME */, raw::Arg(recorder.ring()->name));
      recorder.Write({recorder.Now(), 0, static_cast<uint8_t>(proto::RecordKind::kThread), 0,
                      static_cast<uint16_t>(proto::ThreadEvent::kExit),
                      proto::ReadClockNs(CLOCK_THREAD_CPUTIME_ID), 0});
    }
  }
  if (WatchesRanges()) CloseRangeOfEndedThread();
  ReleaseRing();
  if (raw::GetTid() == g_process.pid) NoteMainThreadLeft();
  // It may be the last one of the program.
  if (MainThreadLeft()) WakeControlThread();
}

}  // namespace

void CreateThreadExitKey() noexcept {
  g_have_key =
      real.pthread_key_create != nullptr && real.pthread_key_create(&g_key, OnKeyDestroyed) == 0;
}

void WatchThreadExit() noexcept {
  // Keys beyond the first 32 make pthread_setspecific allocate; ours is created before the
  // program's.
  if (g_have_key && g_key < 32 && t_thread.exiting == 0) real.pthread_setspecific(g_key, &t_thread);
}

}  // namespace gpuprof::inject
