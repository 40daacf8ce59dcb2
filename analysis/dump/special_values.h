// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Values in a dump that do not follow from the type of their column. Their meaning depends on other
// values of the row, or the model alone has them. For Dump, one thread.

#pragma once

#include "analysis/dump/row_plan.h"

namespace gpuprof::analysis {

void WriteHeapCall(const DumpValue& value, ValueWriter* out);
void WriteHeapSize(const DumpValue& value, ValueWriter* out);
void WriteThreadFacts(const DumpValue& value, ValueWriter* out);
void WriteProcessFacts(const DumpValue& value, ValueWriter* out);
void WriteRangePayload(const DumpValue& value, ValueWriter* out);
void WriteRangeFlags(const DumpValue& value, ValueWriter* out);
// Writes a whole row of RangeValueTable. The schema does not have this table.
void WriteRangeValue(const DumpValue& value, ValueWriter* out);
// Writes what a counter is, and its value.
void WriteReading(const DumpValue& value, ValueWriter* out);

// Writes a kernel by its signature, as the next one does.
void WriteKernelName(const DumpValue& value, ValueWriter* out);
void WriteKernelShape(const DumpValue& value, ValueWriter* out);

// Writes the place of the row's track, as the next one does.
void WriteStreamOfTrack(const DumpValue& value, ValueWriter* out);
void WriteDeviceOfTrack(const DumpValue& value, ValueWriter* out);
// Writes the stream that a row of sync itself names.
void WriteSyncStream(const DumpValue& value, ValueWriter* out);
void WriteUnifiedMemoryCause(const DumpValue& value, ValueWriter* out);

// Writes the values of imported rows: the id of their operation, and a JSON object.
void WriteExternal(const Column<uint64_t>& external, size_t row, ValueWriter* out);
void WriteImportedOp(const DumpValue& value, ValueWriter* out);
void WriteImportedKernel(const DumpValue& value, ValueWriter* out);
template <auto kTable>
void WriteImported(const DumpValue& value, ValueWriter* out) {
  WriteExternal((value.row.track.*kTable).external, value.row.number, out);
}

}  // namespace gpuprof::analysis
