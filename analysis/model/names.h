// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The words for the codes of proto/record.h and friends, as dumps, JSON and tables spell them:
// stable, snake_case. Codes that this reader does not know give an empty view. Any thread.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <google/protobuf/repeated_field.h>

#include "proto/record.h"
#include "proto/table_spec.h"

namespace gpuprof::analysis {

struct Process;
enum class RangeValue : uint8_t;  // model/trace.h

// Returns the word for a value of the enumeration, or for a bit of flags (1, 2, 4 ...).
std::string_view CodeName(proto::Codes codes, uint32_t code);
// Lists the values of the enumeration that this reader knows, ascending, with their names.
std::vector<std::pair<uint32_t, std::string_view>> NamedCodes(proto::Codes codes);

std::string_view HeapFunctionName(uint32_t code);
std::string_view WaitKindName(uint32_t code);
std::string_view MapEventName(uint32_t code);
std::string_view OpScopeName(uint32_t code);
std::string_view RangeKindName(uint32_t code);
std::string_view ThreadEventName(uint32_t code);
std::string_view ProcessEventName(uint32_t code);
std::string_view ExitWayName(uint32_t code);
std::string_view HeapModeName(uint32_t code);
std::string_view ClockKindName(uint32_t code);
std::string_view LossKindName(uint32_t code);
std::string_view SourceName(uint32_t bit);
// Names a bit of nvmlClocksEventReasons in nvidia-smi's words.
std::string_view ClocksEventReasonName(uint64_t bit);
// Returns "meta", "strings" ... and the event tables' names of proto/schema.h.
std::string_view ChunkKindName(uint32_t code);

// Names CUPTI's CUpti_ActivityMemcpyKind ("HtoD"), CUpti_ActivityMemoryKind ("pinned") and
// CUpti_ActivitySynchronizationType ("stream_wait"). CUPTI has its own "unknown"; codes that this
// reader does not know become "unknown" too.
std::string_view CopyKindName(uint32_t kind);
std::string_view MemoryKindName(uint32_t kind);
std::string_view SyncKindName(uint32_t kind);
// Names overhead.operation: "lazy_function_loading", "ptx_compile"; "": not known to this reader.
std::string_view OverheadName(uint32_t operation);
// Names CUpti_ActivityUnifiedMemoryCounterKind ("HtoD", "gpu_page_fault"), and the cause in its
// flags. "": not known, or not known to this reader.
std::string_view UnifiedMemoryCounterName(uint32_t counter);
std::string_view UnifiedMemoryCauseName(uint32_t counter, uint32_t flags);

// Returns the number that a payload's 64 bits stand for.
std::string NvtxPayloadText(proto::NvtxPayload type, uint64_t bits);

// Returns the same for a value that is not a text.
std::string RangeValueText(RangeValue type, uint64_t bits);

// Divides a counter's value exactly: 71300 by 1000 is "71.3".
std::string CounterValueText(int64_t value, uint32_t divisor);

// Formats a grid, block or cluster: "64,1,1".
std::string DimensionsText(const google::protobuf::RepeatedField<uint32_t>& dimensions);

// Names the instructions in Signature.matrix_ops: "HMMA", "HGMMA<separator>QGMMA"; "": no
// instructions.
std::string MatrixOpsText(uint32_t matrix_ops, std::string_view separator);

// Describes Health.damaged_rings as a fault of the trace.
std::string DamagedRingsText(uint32_t rings);

// Returns "cpu", "cuda:0", "rocm:0" or "tpu:0" from type << 8 | index, as the framework numbers
// devices.
std::string DeviceName(const Process& process, uint32_t device);

}  // namespace gpuprof::analysis
