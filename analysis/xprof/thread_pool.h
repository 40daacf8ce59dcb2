// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Regions of thread pools: XLA marks where a worker begins and ends a task, and XProf makes an
// event of both marks. One thread.

#pragma once

#include "analysis/xprof/space.h"

namespace gpuprof::analysis::xprof {

void AddThreadPoolRegions(Plane* plane);

}  // namespace gpuprof::analysis::xprof
