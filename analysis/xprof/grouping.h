// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds the step of each event, as XProf does before each page. A root and all events that the root
// causes are one group. Then marks the steps of each GPU. One thread.

#pragma once

#include "analysis/base/result.h"
#include "analysis/xprof/space.h"

namespace gpuprof::analysis::xprof {

// Groups the events, unless the file's events have groups already. An Error: the events are tied
// too much to follow.
Error GroupEvents(Space* space);

}  // namespace gpuprof::analysis::xprof
