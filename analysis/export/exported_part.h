// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What exports for other tools read: the chosen part of a trace, and the passes over it. The trace
// outlives it. One thread.

#pragma once

#include <memory>
#include <string>
#include <utility>

#include "analysis/analysis.h"
#include "analysis/export/export_window.h"
#include "analysis/passes/context.h"
#include "analysis/passes/session.h"

namespace gpuprof::analysis {

class ExportedPart {
 public:
  // Takes a trace that outlives it. `symfs`: as PassOptions has it.
  ExportedPart(const Trace& whole, const ExportOptions& options, const std::string& symfs = {})
      : part_(PartOf(whole, options)),
        options_(OptionsOf(options, symfs)),
        session_(part_ == nullptr ? whole : *part_),
        context_(&session_, options_) {}
  ExportedPart(const ExportedPart&) = delete;
  ExportedPart& operator=(const ExportedPart&) = delete;

  // Chooses the processes. Called first.
  Error Prepare() { return context_.Prepare(); }

  PassContext& context() { return context_; }
  Session& session() { return session_; }
  const Trace& trace() const { return session_.trace(); }

 private:
  static PassOptions OptionsOf(const ExportOptions& options, const std::string& symfs) {
    PassOptions chosen;
    chosen.pid = options.pid;
    chosen.symfs = symfs;
    return chosen;
  }

  std::shared_ptr<const Trace> part_;
  PassOptions options_;
  Session session_;
  PassContext context_;
};

}  // namespace gpuprof::analysis
