// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a libcupti must have for GPU activity to be recorded with it: the recorder refuses one that
// lacks any of these (tracer/cupti/abi.h has their types), and doctor says so beforehand.

#pragma once

namespace gpuprof::proto {

inline constexpr const char* kNeededCuptiFunctions[] = {
    "cuptiGetVersion",
    "cuptiGetTimestamp",
    "cuptiSubscribe",
    "cuptiUnsubscribe",
    "cuptiEnableCallback",
    "cuptiActivityRegisterCallbacks",
    "cuptiActivityEnable",
    "cuptiActivityDisable",
    "cuptiActivityFlushAll",
    "cuptiActivityGetNextRecord",
    "cuptiActivityGetNumDroppedRecords",
};

}  // namespace gpuprof::proto
