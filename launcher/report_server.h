// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What `gpuprof serve` answers: the page, results of passes, and parts of the bundle's files. Each
// address begins with a secret token, because every user of the machine can reach the port. Names
// of files are looked up in a list: no path of a client's is ever opened.

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "launcher/http_server.h"
#include "launcher/page_outlines.h"
#include "launcher/page_results.h"

namespace gpuprof::launcher {

class ReportServer {
 public:
  // Takes the input and its trace as PageResults does, and the page with the list of files.
  // `bundle`: where the files are.
  ReportServer(std::string input, std::shared_ptr<const analysis::Trace> trace, std::string bundle,
               analysis::ReportOptions page);

  // Begins to answer on a port of 127.0.0.1. Returns empty, or cause and fix.
  std::string Start(uint16_t port);
  // Returns the address of the page, with the token.
  std::string Address() const;
  // Ends all answers. Returns false if a pass is still at work: it cannot be interrupted.
  bool Stop();

 private:
  HttpAnswer Answer(const HttpRequest& request);
  HttpAnswer Page() const;
  HttpAnswer Result(const std::string& name);
  HttpAnswer Outline(const std::string& text);
  HttpAnswer File(const std::string& name, const HttpRequest& request) const;
  bool IsOurHost(const std::string& host) const;

  const analysis::ReportOptions page_;
  std::string token_;
  PageResults results_;
  PageOutlines outlines_;
  HttpServer server_;  // its threads use the others, so it goes first
};

}  // namespace gpuprof::launcher
