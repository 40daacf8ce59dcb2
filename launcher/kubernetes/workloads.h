// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pods that the objects of a manifest make: of a Pod, a Deployment, a Job and their like, also
// inside of a List. Pure; one thread.

#pragma once

#include <string>
#include <vector>

#include "launcher/kubernetes/yaml_tree.h"

namespace gpuprof::launcher {

struct Workload {
  std::string kind;
  std::string name;
  const YamlNode* object = nullptr;   // the whole object
  const YamlNode* pod = nullptr;      // what holds the pod's metadata and spec
  std::vector<const YamlNode*> path;  // from the document to `pod`
  std::string fault;                  // why it cannot be read, or ""
  // Returns how people call it: Deployment/web.
  std::string Title() const { return kind + "/" + (name.empty() ? "?" : name); }
};

struct Workloads {
  std::vector<Workload> found;
  std::vector<std::string> passed_over;  // titles of objects without pods, or of unknown kinds
};

// Finds the workloads of all documents, which must outlive the result.
Workloads FindWorkloads(const std::vector<YamlNode>& documents);

}  // namespace gpuprof::launcher
