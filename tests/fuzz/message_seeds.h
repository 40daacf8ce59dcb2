// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Seeds of the fuzzers whose input is no file: control_fuzz, answer_fuzz, agent_fuzz,
// cupti_fuzz and nvtx_fuzz.

#pragma once

#include <filesystem>

namespace gpuprof::fuzz {

void MakeControl(const std::filesystem::path& folder);
void MakeAnswers(const std::filesystem::path& folder);
void MakeAgent(const std::filesystem::path& folder);
void MakeCupti(const std::filesystem::path& folder);
void MakePayloads(const std::filesystem::path& folder);

}  // namespace gpuprof::fuzz
