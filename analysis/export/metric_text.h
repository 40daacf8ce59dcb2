// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Families of metrics as text of OpenMetrics 1.0. Prometheus' older format reads the same lines.
// One thread.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuprof::analysis {

// Names and values, in the order in which they are written.
using MetricLabels = std::vector<std::pair<std::string_view, std::string>>;

class MetricText {
 public:
  // Adds to a sum that only grows. The family's name ends in its unit, if it has one; "_total" is
  // added. Samples of equal labels are added up.
  void Count(const std::string& family, std::string_view help, std::string_view unit,
             const MetricLabels& labels, double value) {
    Add("counter", family, help, unit, labels, value);
  }
  void Gauge(const std::string& family, std::string_view help, std::string_view unit,
             const MetricLabels& labels, double value) {
    Add("gauge", family, help, unit, labels, value);
  }
  // Adds values of a histogram. `bounds` are the upper bounds of its buckets, ascending.
  void Histogram(const std::string& family, std::string_view help, std::string_view unit,
                 const MetricLabels& labels, const std::vector<double>& bounds,
                 const std::vector<double>& values);

  // Returns all families by name, and the mark of the end.
  std::string Take() const;
  uint64_t samples() const { return samples_; }

 private:
  struct Family {
    std::string_view type, help, unit;
    std::map<std::string, double> samples;  // by labels
    std::string lines;                      // of histograms
  };
  void Add(std::string_view type, const std::string& family, std::string_view help,
           std::string_view unit, const MetricLabels& labels, double value);

  std::map<std::string, Family> families_;
  uint64_t samples_ = 0;
};

}  // namespace gpuprof::analysis
