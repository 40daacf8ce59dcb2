// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Fills the fields `short_name` of a result from its fields `name`. Called once by Run(), for every
// pass; any thread.

#pragma once

namespace google::protobuf {
class Message;
}

namespace gpuprof::analysis {

// Leaves alone what a pass has set itself.
void FillShortNames(google::protobuf::Message* result);

}  // namespace gpuprof::analysis
