// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The way from a page to the files of its bundle, as an address that is relative to the page's own.
// For `gpuprof report --link-events`. Pure; never looks at files.

#pragma once

#include <string>

namespace gpuprof::launcher {

struct PageAddress {
  std::string address;  // "run1/", "../runs/run1/", "./"; empty: no way leads there
  std::string folder;   // the innermost folder with both: what a web server has to offer
};

// Returns the way from the file `page` to the files of `folder`. Both are absolute paths, or paths
// below `here`. Links in paths stay as they are: a web server shows the same names. There is no way
// if both have only the root of all files in common.
PageAddress AddressFromPage(const std::string& page, const std::string& folder,
                            const std::string& here);

}  // namespace gpuprof::launcher
