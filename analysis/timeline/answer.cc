// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See answer.h.

#include "analysis/timeline/answer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace gpuprof::analysis::timeline {
namespace {

static_assert(std::endian::native == std::endian::little, "arrays go out as they lie in memory");

using Json = nlohmann::ordered_json;

constexpr size_t kMostQuestionBytes = size_t{1} << 20;
constexpr size_t kMostHits = 100'000;

// Reads a question, member by member. The first fault is kept.
class Question {
 public:
  explicit Question(std::string_view text) {
    if (text.size() > kMostQuestionBytes) {
      Fail("is longer than a megabyte");
      return;
    }
    json_ = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
    if (!json_.is_object()) Fail("is not an object of JSON");
  }

  const Error& error() const { return error_; }

  std::string Text(const char* name) {
    const Json* value = Find(name);
    if (value == nullptr || !value->is_string()) {
      Fail(std::string("has no text `") + name + "`");
      return "";
    }
    return *value->get_ptr<const Json::string_t*>();
  }
  double Number(const char* name) {
    const Json* value = Find(name);
    if (value == nullptr || !value->is_number()) {
      Fail(std::string("has no number `") + name + "`");
      return 0;
    }
    return NumberOf(*value);
  }
  uint32_t Index(const char* name) {
    const Json* value = Find(name);
    uint32_t index = 0;
    if (value == nullptr || !IndexOf(*value, &index))
      Fail(std::string("has no whole number `") + name + "`");
    return index;
  }
  std::optional<std::vector<uint32_t>> List(const char* name) {
    const Json* value = Find(name);
    if (value == nullptr || value->is_null()) return std::nullopt;
    std::vector<uint32_t> list;
    if (!value->is_array()) {
      Fail(std::string("has no list `") + name + "`");
      return list;
    }
    for (const Json& each : *value) {
      uint32_t index = 0;
      if (!IndexOf(each, &index)) {
        Fail(std::string("has something other than a whole number in `") + name + "`");
        return list;
      }
      list.push_back(index);
    }
    return list;
  }
  bool IsTrue(const char* name) const {
    const Json* value = Find(name);
    return value != nullptr && value->is_boolean() && value->get<bool>();
  }
  timeline::Selection Selection() {
    timeline::Selection selection;
    selection.start_ns = Number("start_ns");
    selection.end_ns = Number("end_ns");
    selection.processes = List("processes");
    selection.devices = List("devices");
    selection.tracks = List("tracks");
    return selection;
  }
  TrackKind Kind(const char* name) {
    const std::string word = Text(name);
    for (size_t i = 0; i < kTrackKinds; ++i) {
      if (TrackKindWord(static_cast<TrackKind>(i)) == word) return static_cast<TrackKind>(i);
    }
    Fail(std::string("names no kind of tracks in `") + name + "`");
    return TrackKind::kStream;
  }

 private:
  void Fail(const std::string& what) {
    if (!error_) error_ = UsageError("The question to the timeline " + what + ".");
  }
  const Json* Find(const char* name) const {
    if (!json_.is_object()) return nullptr;
    const auto found = json_.find(name);
    return found == json_.end() ? nullptr : &*found;
  }
  static double NumberOf(const Json& value) {
    if (const auto* number = value.get_ptr<const Json::number_float_t*>()) return *number;
    if (const auto* number = value.get_ptr<const Json::number_unsigned_t*>())
      return static_cast<double>(*number);
    if (const auto* number = value.get_ptr<const Json::number_integer_t*>())
      return static_cast<double>(*number);
    return 0;
  }
  static bool IndexOf(const Json& value, uint32_t* index) {
    if (!value.is_number()) return false;
    const double number = NumberOf(value);
    if (!(number >= 0 && number <= 4294967295.0) || number != std::floor(number)) return false;
    *index = static_cast<uint32_t>(number);
    return true;
  }

  Json json_;
  Error error_;
};

// Whole numbers are written without a point.
Json NumberJson(double value) {
  constexpr double kMostExact = 9007199254740992.0;
  if (std::floor(value) == value && std::abs(value) <= kMostExact)
    return static_cast<int64_t>(value);
  return value;
}

std::string Written(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The arrays of an answer, one behind the other.
class Arrays {
 public:
  Json Add(const std::vector<double>& values) { return Put("f64", values); }
  Json Add(const std::vector<uint32_t>& values) { return Put("u32", values); }
  Json Add(const std::vector<uint8_t>& values) { return Put("u8", values); }

  // Puts the header in front of the arrays.
  std::string Join(const Json& header) const {
    std::string text = Written(header);
    text.resize((text.size() + 7) / 8 * 8, ' ');
    std::string answer = "GTA1";
    const auto length = static_cast<uint32_t>(text.size());
    answer.append(reinterpret_cast<const char*>(&length), sizeof length);
    answer.reserve(answer.size() + text.size() + bytes_.size());
    return answer.append(text).append(bytes_);
  }

 private:
  template <typename T>
  Json Put(const char* type, const std::vector<T>& values) {
    Json place = {{"type", type}, {"at", bytes_.size()}, {"length", values.size()}};
    if (!values.empty())
      bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
    bytes_.resize((bytes_.size() + 7) / 8 * 8, '\0');
    return place;
  }

  std::string bytes_;
};

Json InfoJson(const TraceInfo& info) {
  Json json = {{"start_ns", NumberJson(info.start_ns)}, {"end_ns", NumberJson(info.end_ns)}};
  json["processes"] = Json::array();
  for (const ProcessInfo& process : info.processes) {
    json["processes"].push_back(
        {{"pid", process.pid}, {"host", process.host}, {"name", process.name}});
  }
  if (!info.device_word.empty()) json["device_word"] = info.device_word;
  json["tracks"] = Json::array();
  for (const TrackInfo& track : info.tracks) {
    Json row = {{"id", track.id},
                {"kind", std::string(TrackKindWord(track.kind))},
                {"process", track.process},
                {"name", track.name}};
    row["device"] = track.device ? Json(*track.device) : Json();
    row["tid"] = track.tid ? Json(*track.tid) : Json();
    row["rows"] = track.rows;
    row["depth"] = track.depth;
    if (track.is_packed) row["is_packed"] = true;
    json["tracks"].push_back(std::move(row));
  }
  json["rows"] = info.rows;
  if (info.is_rough) json["is_rough"] = true;
  json["faults"] = info.faults;
  json["classes"] = Json::array();
  for (size_t i = 0; i < kSpanClasses; ++i)
    json["classes"].push_back(std::string(ClassWord(static_cast<SpanClass>(i))));
  return json;
}

std::string SpansBytes(const SpansAnswer& spans) {
  Arrays arrays;
  Json header;
  header["spans"] = Json::array();
  for (const TrackSpans& track : spans.tracks) {
    const Rectangles& all = track.rectangles;
    Json row = {{"track", track.track}};
    row["start_ns"] = arrays.Add(all.start_ns);
    row["end_ns"] = arrays.Add(all.end_ns);
    row["depth"] = arrays.Add(all.depth);
    row["name"] = arrays.Add(all.name);
    row["cls"] = arrays.Add(all.cls);
    row["row"] = arrays.Add(all.row);
    row["count"] = arrays.Add(all.count);
    row["busy_ns"] = arrays.Add(all.busy_ns);
    if (track.one_in > 1) row["one_in"] = track.one_in;
    Json bars;
    bars["first"] = arrays.Add(all.bar_first);
    bars["start_ns"] = arrays.Add(all.bar_start_ns);
    bars["end_ns"] = arrays.Add(all.bar_end_ns);
    bars["cls"] = arrays.Add(all.bar_cls);
    bars["busy_ns"] = arrays.Add(all.bar_busy_ns);
    row["bars"] = std::move(bars);
    header["spans"].push_back(std::move(row));
  }
  header["names"] = spans.names;
  return arrays.Join(header);
}

std::string CounterBytes(const CounterAnswer& counter) {
  Arrays arrays;
  Json header = {{"track", counter.track}};
  header["time_ns"] = arrays.Add(counter.time_ns);
  header["least"] = arrays.Add(counter.least);
  header["most"] = arrays.Add(counter.most);
  header["unit"] = counter.unit;
  return arrays.Join(header);
}

std::string CallsBytes(const CallTree& tree) {
  Arrays arrays;
  Json header;
  header["names"] = tree.names;
  header["caller"] = arrays.Add(tree.caller);
  header["self_ns"] = arrays.Add(tree.self_ns);
  header["left_out"] = tree.left_out;
  return arrays.Join(header);
}

Json RefJson(const EventRef& ref) {
  return {{"track", ref.track},
          {"row", ref.row},
          {"name", ref.name},
          {"start_ns", NumberJson(ref.start_ns)},
          {"end_ns", NumberJson(ref.end_ns)}};
}

Json RefsJson(const std::vector<EventRef>& refs) {
  Json list = Json::array();
  for (const EventRef& ref : refs) list.push_back(RefJson(ref));
  return list;
}

Json EventJson(const EventDetail& detail) {
  Json json = {{"track", detail.event.track},
               {"row", detail.event.row},
               {"name", detail.event.name},
               {"cls", std::string(ClassWord(detail.cls))}};
  if (!detail.call_kind.empty()) json["call_kind"] = std::string(detail.call_kind);
  json["start_ns"] = NumberJson(detail.event.start_ns);
  json["duration_ns"] = NumberJson(detail.event.end_ns - detail.event.start_ns);
  json["fields"] = Json::array();
  for (const EventField& field : detail.fields)
    json["fields"].push_back({{"name", field.name}, {"value", field.value}});
  json["causes"] = RefsJson(detail.causes);
  json["effects"] = RefsJson(detail.effects);
  return json;
}

Json SearchJson(const SearchAnswer& search) {
  Json json = {{"count", NumberJson(search.count)}, {"total_ns", NumberJson(search.total_ns)}};
  json["hits"] = RefsJson(search.hits);
  json["names"] = Json::array();
  for (const SearchAnswer::Name& name : search.names) {
    json["names"].push_back({{"name", name.name},
                             {"count", NumberJson(name.count)},
                             {"total_ns", NumberJson(name.total_ns)}});
  }
  return json;
}

Json RangeJson(const RangeAnswer& range) {
  Json json = {{"kind", std::string(TrackKindWord(range.kind))}};
  json["rows"] = Json::array();
  for (const RangeRow& each : range.rows) {
    Json row = {{"name", each.name}};
    if (!each.full_name.empty()) row["full_name"] = each.full_name;
    row["cls"] = std::string(ClassWord(each.cls));
    if (!each.call_kind.empty()) row["call_kind"] = std::string(each.call_kind);
    row["count"] = NumberJson(each.count);
    row["total_ns"] = NumberJson(each.total_ns);
    row["mean_ns"] = NumberJson(each.mean_ns);
    row["min_ns"] = NumberJson(each.min_ns);
    row["max_ns"] = NumberJson(each.max_ns);
    json["rows"].push_back(std::move(row));
  }
  json["busy_ns"] = Json::array();
  for (const TrackBusy& busy : range.busy)
    json["busy_ns"].push_back({{"track", busy.track}, {"busy_ns", NumberJson(busy.busy_ns)}});
  json["left_out"] = range.left_out;
  if (range.one_in > 1) json["one_in"] = range.one_in;
  return json;
}

Json GapsJson(const std::vector<DeviceGaps>& devices) {
  Json json;
  json["devices"] = Json::array();
  for (const DeviceGaps& each : devices) {
    Json row = {{"process", each.process},
                {"device", each.device},
                {"window_ns", NumberJson(each.window_ns)},
                {"idle_ns", NumberJson(each.idle_ns)},
                {"gap_count", each.gap_count},
                {"left_out", each.left_out}};
    row["gaps"] = Json::array();
    for (const Gap& gap : each.gaps) {
      row["gaps"].push_back({{"start_ns", NumberJson(gap.start_ns)},
                             {"end_ns", NumberJson(gap.end_ns)},
                             {"next", gap.next}});
    }
    json["devices"].push_back(std::move(row));
  }
  return json;
}

Error AnswerSpans(Timeline* timeline, Question* question, std::string* answer) {
  const std::vector<uint32_t> tracks = question->List("tracks").value_or(std::vector<uint32_t>());
  const double start = question->Number("start_ns"), end = question->Number("end_ns");
  const double ns_per_px = question->Number("ns_per_px");
  if (question->error()) return question->error();
  SpansAnswer spans;
  if (Error error = timeline->Spans(tracks, start, end, ns_per_px, &spans)) return error;
  *answer = SpansBytes(spans);
  return {};
}

Error AnswerCounter(Timeline* timeline, Question* question, std::string* answer) {
  const uint32_t track = question->Index("track");
  const double start = question->Number("start_ns"), end = question->Number("end_ns");
  const double ns_per_px = question->Number("ns_per_px");
  if (question->error()) return question->error();
  CounterAnswer counter;
  if (Error error = timeline->Counter(track, start, end, ns_per_px, &counter)) return error;
  *answer = CounterBytes(counter);
  return {};
}

Error AnswerEvent(Timeline* timeline, Question* question, std::string* answer) {
  const uint32_t track = question->Index("track"), row = question->Index("row");
  if (question->error()) return question->error();
  EventDetail detail;
  if (Error error = timeline->Event(track, row, &detail)) return error;
  *answer = Written(EventJson(detail));
  return {};
}

Error AnswerSearch(Timeline* timeline, Question* question, std::string* answer) {
  const std::string text = question->Text("text");
  const uint32_t limit = std::min<uint32_t>(question->Index("limit"), kMostHits);
  if (question->error()) return question->error();
  SearchAnswer search;
  if (Error error = timeline->Search(text, limit, &search)) return error;
  *answer = Written(SearchJson(search));
  return {};
}

Error AnswerAt(Timeline* timeline, Question* question, std::string* answer) {
  const uint32_t track = question->Index("track");
  const double time = question->Number("time_ns");
  if (question->error()) return question->error();
  std::optional<EventRef> found;
  if (Error error = timeline->At(track, time, &found)) return error;
  *answer = Written(found ? RefJson(*found) : Json());
  return {};
}

Error AnswerRange(Timeline* timeline, Question* question, std::string* answer) {
  const TrackKind kind = question->Kind("kind");
  const Selection selection = question->Selection();
  if (question->error()) return question->error();
  RangeAnswer range;
  if (Error error = timeline->Range(kind, selection, &range)) return error;
  *answer = Written(RangeJson(range));
  return {};
}

Error AnswerCalls(Timeline* timeline, Question* question, std::string* answer) {
  const Selection selection = question->Selection();
  if (question->error()) return question->error();
  CallTree tree;
  if (Error error = timeline->Calls(selection, &tree)) return error;
  *answer = CallsBytes(tree);
  return {};
}

Error AnswerGaps(Timeline* timeline, Question* question, std::string* answer) {
  const Selection selection = question->Selection();
  if (question->error()) return question->error();
  std::vector<DeviceGaps> gaps;
  if (Error error = timeline->Gaps(selection, &gaps)) return error;
  *answer = Written(GapsJson(gaps));
  return {};
}

}  // namespace

bool AsksForInfo(std::string_view text) {
  Question question(text);
  return !question.error() && question.Text("ask") == "info";
}

bool AsksRoughly(std::string_view text) { return Question(text).IsTrue("rough"); }

Error Answer(Timeline* timeline, std::string_view text, std::string* answer) {
  Question question(text);
  if (question.error()) return question.error();
  const std::string ask = question.Text("ask");
  if (question.error()) return question.error();
  if (ask == "info") {
    *answer = Written(InfoJson(timeline->info()));
    return {};
  }
  using Ask = Error (*)(Timeline*, Question*, std::string*);
  static constexpr std::pair<std::string_view, Ask> kAsks[] = {
      {"spans", AnswerSpans},   {"counter", AnswerCounter}, {"event", AnswerEvent},
      {"search", AnswerSearch}, {"at", AnswerAt},           {"range", AnswerRange},
      {"calls", AnswerCalls},   {"gaps", AnswerGaps}};
  for (const auto& [name, answer_it] : kAsks) {
    if (name == ask) return answer_it(timeline, &question, answer);
  }
  return UsageError(
      "The timeline does not know this question. It knows info, spans, counter, event, search, at, "
      "range, calls and gaps.");
}

}  // namespace gpuprof::analysis::timeline
