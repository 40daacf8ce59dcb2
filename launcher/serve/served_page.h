// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// One page of a server: the page itself, its results, and parts of the files that it shows. Names
// of files are looked up in a list: no path of a client's is ever opened. Any thread may ask.

#pragma once

#include <string>

#include "analysis/analysis.h"
#include "launcher/serve/http_server.h"
#include "launcher/serve/page_results.h"
#include "launcher/serve/query_answers.h"
#include "launcher/serve/report_server.h"
#include "launcher/serve/timeline_answers.h"

namespace gpuprof::launcher {

class ServedPage : public Served {
 public:
  // Takes the page with the list of its files, and how its results come about.
  ServedPage(analysis::ReportOptions page, PageResults::Ways ways);

  HttpAnswer Answer(const std::string& rest, const HttpRequest& request) override;
  bool Stop() override {
    const bool asks_nothing = queries_.Stop();
    return results_.Stop() && !timeline_.IsBusy() && asks_nothing;
  }

 private:
  HttpAnswer Page() const;
  HttpAnswer Result(const std::string& name, const HttpRequest& request);
  HttpAnswer Wait(const std::string& name);
  HttpAnswer Timeline(const std::string& question);
  HttpAnswer Query(const std::string& sql, const HttpRequest& request);
  HttpAnswer File(const std::string& name, const HttpRequest& request) const;

  const analysis::ReportOptions page_;
  PageResults results_;
  TimelineAnswers timeline_;
  QueryAnswers queries_;
};

}  // namespace gpuprof::launcher
