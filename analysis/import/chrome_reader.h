// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads a Chrome trace (JSON) event by event, as torch.profiler and many others write it. A part of
// the file is in memory at a time. The top level is an object with `traceEvents` or an array of
// events. gzip and zstd are known by their first bytes.
//
// Files with broken JSON are read as far as their meaning is clear. The notes tell what was mended
// and left out. Text that is not a trace at all gives an Error, and a source that fails gives one
// too. Events may have been handed over before: notes->events counts them.

#pragma once

#include <string>

#include "analysis/import/byte_source.h"
#include "analysis/import/chrome_event.h"
#include "analysis/import/text_window.h"

namespace gpuprof::analysis::import {

Error ReadChrome(const codec::InputPath& path, ChromeHandler* handler, ChromeTextNotes* notes);

// Reads from another source. `name` is for errors. Tests take small windows.
Error ReadChrome(ByteSource* source, const std::string& name, ChromeHandler* handler,
                 ChromeTextNotes* notes, size_t window_bytes = TextWindow::kBytes);

}  // namespace gpuprof::analysis::import
