// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "launcher/base/end_signals.h"

#include <sys/signalfd.h>

namespace gpuprof::launcher {

EndSignals::EndSignals() {
  sigemptyset(&signals_);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, number);
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  file_ = codec::OwnedFile(signalfd(-1, &signals_, SFD_CLOEXEC | SFD_NONBLOCK));
}

void EndSignals::Await() const {
  int number = 0;
  sigwait(&signals_, &number);
}

}  // namespace gpuprof::launcher
