// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The process that `gpuprof attach` has loaded this object into (proto/attach.h). On the thread
// that was stopped nothing happens but the load and the start of the control thread. The control
// thread does the rest, and undoes it when the launcher asks it to detach.

#pragma once

#include <cstdint>

namespace gpuprof::inject {

// Returns whether the process was attached to and not detached from.
bool IsAttached() noexcept;

// Takes the slots of objects that were loaded meanwhile. Control thread, now and then.
void LookAfterSlots() noexcept;

// Returns whether the launcher has asked for the detach.
bool IsDetachWanted() noexcept;

// Ends the trace and every thread of gpuprof but the calling one, which ends at once afterwards.
// The program is as before the attach, with one more object in memory. Control thread.
void Detach() noexcept;

}  // namespace gpuprof::inject
