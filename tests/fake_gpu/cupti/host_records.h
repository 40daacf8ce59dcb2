// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Records of functions that streams run on the host: numbers and layouts of 13.1 and later (wheels
// nvidia-cuda-cupti 13.1.115 and 13.2.86). The toolkit that builds this is older.

#pragma once

#include <cstdint>

namespace fake_gpu_cupti {

constexpr uint32_t kKindGraphHostNode = 56;
constexpr uint32_t kKindHostLaunch = 58;

struct HostLaunchRecord {
  uint32_t kind = kKindHostLaunch;
  uint32_t streamId, contextId, deviceId;
  uint32_t correlationId;
  uint32_t processId, threadId;
  uint32_t padding = 0;
  uint64_t start, end;
};

struct GraphHostNodeRecord {
  uint32_t kind = kKindGraphHostNode;
  uint32_t streamId, contextId, deviceId;
  uint32_t correlationId;
  uint32_t graphId;
  uint64_t graphNodeId;
  uint32_t processId, threadId;
  uint64_t start, end;
};

}  // namespace fake_gpu_cupti
