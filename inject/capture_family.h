// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Forked children follow their parent: its captures at steps and ranges also cover them. The rule
// holds for children that existed before the capture and for children forked in it (give or take a
// moment). Each child counts its own steps.
//
// Parent and children share a page. Unless a line says otherwise: on the program's threads; no
// heap, no lock, errno untouched.

#pragma once

#include <cstdint>

namespace gpuprof::inject {

// A child that is forked while a capture begins or ends needs to know this.
enum class FamilyState : uint32_t { kNotMarked, kIsMarked, kIsEnding };

// Tells children of a capture that begins. Returns the state before, for FamilysCaptureHasBegun.
[[gnu::cold]] FamilyState FamilysCaptureBegins() noexcept;
[[gnu::cold]] void FamilysCaptureHasBegun(bool has_begun, FamilyState before) noexcept;

// Tells children of a capture that ends. `is_over`: no other capture follows.
[[gnu::cold]] void FamilysCaptureEnds(bool is_over) noexcept;
[[gnu::cold]] void FamilysCaptureHasEnded() noexcept;

// Prepares a fork.
[[gnu::cold]] void PrepareFamily() noexcept;
// Makes the forked child follow its parent.
[[gnu::cold]] void BeginFamilyOfChild() noexcept;

// Returns whether there is a parent to follow that has not ended and may begin another capture.
// Control thread. FollowParent repeats the parent's actions since the last call.
bool HasParentsCaptures() noexcept;
[[gnu::cold]] void FollowParent() noexcept;

}  // namespace gpuprof::inject
