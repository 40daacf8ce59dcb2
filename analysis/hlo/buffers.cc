// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads where XLA placed the buffers of a program (xla.BufferAssignmentProto).

#include "analysis/hlo/message.h"
#include "analysis/hlo/program.h"

namespace gpuprof::analysis::hlo {
namespace {

// Reads a message xla.LogicalBufferProto.Location into what has such a place.
template <typename Placed>
void ReadLocation(Message message, Placed* placed) {
  message.ForEach([&](const Field& field) {
    if (field.number == 2) placed->instruction_name = field.bytes;
    if (field.number == 3) AddNumbers(field, &placed->shape_index);
    if (field.number == 4) placed->instruction = Signed(field);
  });
}

LogicalBuffer BufferOf(Message message) {
  LogicalBuffer found;
  message.ForEach([&](const Field& field) {
    switch (field.number) {
      case 1:
        found.id = Signed(field);
        break;
      case 2:
        found.size = Signed(field);
        break;
      case 3:
        ReadLocation(message.In(field), &found);
        break;
      case 4:
        found.color = Signed(field);
        break;
      default:
        break;
    }
  });
  return found;
}

BufferAlias AliasOf(Message message) {
  BufferAlias found;
  message.ForEach([&](const Field& field) {
    if (field.number == 1) found.source = Signed(field);
    if (field.number == 2) ReadLocation(message.In(field), &found);
  });
  return found;
}

AssignedBuffer AssignedOf(Message message) {
  AssignedBuffer found;
  message.ForEach([&](const Field& field) {
    if (field.number == 1) found.buffer = Signed(field);
    if (field.number == 2) found.offset = Signed(field);
    if (field.number == 3) found.size = Signed(field);
  });
  return found;
}

BufferAllocation AllocationOf(Message message) {
  BufferAllocation found;
  message.ForEach([&](const Field& field) {
    switch (field.number) {
      case 1:
        found.index = Signed(field);
        break;
      case 2:
        found.size = Signed(field);
        break;
      case 3:
        found.is_thread_local = field.value != 0;
        break;
      case 5:
        found.is_parameter = field.value != 0;
        break;
      case 6:
        found.parameter_number = Signed(field);
        break;
      case 7:
        found.is_live_out = field.value != 0;
        break;
      case 8:
        found.color = Signed(field);
        break;
      case 9:
        found.assigned.push_back(AssignedOf(message.In(field)));
        break;
      case 10:
        AddNumbers(field, &found.parameter_shape_index);
        break;
      case 11:
        found.is_tuple = field.value != 0;
        break;
      case 12:
        found.is_constant = field.value != 0;
        break;
      case 13:
        found.is_aliased_with_output = field.value != 0;
        break;
      default:
        break;
    }
  });
  return found;
}

HeapEvent EventOf(Message message) {
  HeapEvent found;
  message.ForEach([&](const Field& field) {
    switch (field.number) {
      case 1:
        found.kind = static_cast<HeapEvent::Kind>(field.value & 0xff);
        break;
      case 2:
        found.buffer = Signed(field);
        break;
      case 3:
        found.computation = field.bytes;
        break;
      case 4:
        found.instruction = field.bytes;
        break;
      case 5:
        found.shared_with = Signed(field);
        break;
      default:
        break;
    }
  });
  return found;
}

HeapTrace TraceOf(Message message) {
  HeapTrace found;
  message.ForEach([&](const Field& field) {
    if (field.number == 1) found.events.push_back(EventOf(message.In(field)));
    if (field.number == 2) found.is_whole_module = field.value != 0;
    if (field.number == 3) found.allocation = Signed(field);
  });
  return found;
}

}  // namespace

void Program::ReadBuffers(std::string_view bytes) {
  const Message message(bytes, &is_whole);
  message.ForEach([&](const Field& field) {
    switch (field.number) {
      case 1:
        buffers.push_back(BufferOf(message.In(field)));
        break;
      case 2:
        aliases.push_back(AliasOf(message.In(field)));
        break;
      case 3:
        allocations.push_back(AllocationOf(message.In(field)));
        break;
      case 4:
        heap_traces.push_back(TraceOf(message.In(field)));
        break;
      default:
        break;
    }
  });
}

}  // namespace gpuprof::analysis::hlo
