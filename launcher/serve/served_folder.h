// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What `gpuprof serve DIR` answers: the list of the captures in a folder, the page of each capture,
// and the page that compares two. It also controls processes that record into the folder. Addresses
// hold numbers that this object has given out: no path of a client's is ever opened.
//
// A capture is opened when it is asked for. A few stay open; the one that was not used for longest
// is closed. Any thread may ask.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analysis.h"
#include "launcher/serve/capture_list.h"
#include "launcher/serve/folder_processes.h"
#include "launcher/serve/imports.h"
#include "launcher/serve/large_results.h"
#include "launcher/serve/report_server.h"
#include "launcher/serve/served_page.h"

namespace gpuprof::launcher {

class ServedFolder : public Served {
 public:
  // Takes a cache that is open.
  ServedFolder(const std::string& folder, ImportCache* cache);

  HttpAnswer Answer(const std::string& rest, const HttpRequest& request) override;
  bool Stop() override;

 private:
  // A page that is open.
  struct Opened {
    std::string key;     // which captures
    uint64_t state = 0;  // of their files
    uint64_t used_at = 0;
    std::shared_ptr<ServedPage> page;
  };
  // A page, or the answer in its place.
  struct Page {
    std::shared_ptr<ServedPage> page;
    HttpAnswer answer;
  };

  HttpAnswer ListPage() const;
  HttpAnswer List();
  HttpAnswer OfCapture(std::string_view rest, const HttpRequest& request);
  HttpAnswer OfComparison(std::string_view rest, const HttpRequest& request);
  HttpAnswer Control(std::string_view rest, const HttpRequest& request);

  Page Open(const ServedCapture& capture, bool is_page);
  Page OpenBundle(const ServedCapture& capture, const std::shared_ptr<const ImportedTrace>& import);
  Page OpenComparison(const ServedCapture& before, const ServedCapture& after);
  std::shared_ptr<ServedPage> FindOpened(const std::string& key, uint64_t state);
  std::shared_ptr<ServedPage> Keep(const std::string& key, uint64_t state,
                                   std::shared_ptr<ServedPage> page);
  PageAnswer Compare(const ServedCapture& before, const ServedCapture& after);
  std::string FaultOf(const ServedCapture& capture);

  CaptureList captures_;
  FolderProcessList processes_;
  Imports imports_;
  std::mutex turn_;  // who computes: one result at a time, for the memory
  LargeResults large_;
  std::mutex mutex_;
  std::vector<Opened> opened_;
  std::vector<std::weak_ptr<ServedPage>> pages_;  // those that somebody still uses, too
  std::map<uint64_t, std::pair<uint64_t, std::string>> faults_;  // by id: state of files, and why
  uint64_t uses_ = 0;
  bool is_stopping_ = false;
};

}  // namespace gpuprof::launcher
