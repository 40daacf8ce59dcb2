// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See table_layout.h.

#include "analysis/render/table_layout.h"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/base/enum_word.h"
#include "analysis/base/figures.h"

namespace gpuprof::analysis {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;
using Path = std::vector<const FieldDescriptor*>;

// A value of a row: the message that has the field, and the field. No field: there is no value.
struct Place {
  const ResultMessage* message = nullptr;
  const FieldDescriptor* field = nullptr;

  bool is_set() const {
    return field != nullptr &&
           (!field->has_presence() || message->GetReflection()->HasField(*message, field));
  }
};

Place PlaceOf(const ResultMessage& row, const Path& path) {
  const ResultMessage* message = &row;
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    if (!message->GetReflection()->HasField(*message, path[i])) return {};
    message = &message->GetReflection()->GetMessage(*message, path[i]);
  }
  return path.empty() ? Place() : Place{message, path.back()};
}

int64_t SignedOf(const Place& place) {
  const auto* r = place.message->GetReflection();
  return place.field->cpp_type() == FieldDescriptor::CPPTYPE_INT32
             ? r->GetInt32(*place.message, place.field)
             : r->GetInt64(*place.message, place.field);
}

uint64_t UnsignedOf(const Place& place) {
  const auto* r = place.message->GetReflection();
  switch (place.field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_UINT32:
      return r->GetUInt32(*place.message, place.field);
    case FieldDescriptor::CPPTYPE_UINT64:
      return r->GetUInt64(*place.message, place.field);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return WholeNumber(r->GetDouble(*place.message, place.field));
    default:
      return static_cast<uint64_t>(SignedOf(place));
  }
}

bool IsSigned(const FieldDescriptor* field) {
  return field->cpp_type() == FieldDescriptor::CPPTYPE_INT32 ||
         field->cpp_type() == FieldDescriptor::CPPTYPE_INT64;
}

double RealOf(const Place& place) {
  if (place.field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE)
    return place.message->GetReflection()->GetDouble(*place.message, place.field);
  return IsSigned(place.field) ? static_cast<double>(SignedOf(place))
                               : static_cast<double>(UnsignedOf(place));
}

std::string TextOf(const Place& place) {
  return place.message->GetReflection()->GetString(*place.message, place.field);
}

bool IsPresent(const Place& place) {
  if (place.field == nullptr) return false;
  const auto* r = place.message->GetReflection();
  if (place.field->is_repeated()) return r->FieldSize(*place.message, place.field) > 0;
  if (place.field->has_presence()) return r->HasField(*place.message, place.field);
  switch (place.field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
      return !TextOf(place).empty();
    case FieldDescriptor::CPPTYPE_BOOL:
      return r->GetBool(*place.message, place.field);
    case FieldDescriptor::CPPTYPE_ENUM:
      return r->GetEnumValue(*place.message, place.field) != 0;
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return RealOf(place) != 0;
    default:
      return UnsignedOf(place) != 0;
  }
}

// The name of a row as people are shown it.
std::string NameOf(const Place& place, const TextOptions& options) {
  const FieldDescriptor* brief = place.field->containing_type()->FindFieldByName("short_name");
  if (options.wide || brief == nullptr || place.field->name() != "name") return TextOf(place);
  const std::string name = TextOf({place.message, brief});
  return name.empty() ? TextOf(place) : name;
}

std::string HostOf(const ResultMessage& row) {
  const FieldDescriptor* host = row.GetDescriptor()->FindFieldByName("host");
  return host == nullptr ? "" : TextOf({&row, host});
}

bool AreOfSeveralHosts(const std::vector<const ResultMessage*>& rows) {
  return !rows.empty() && std::any_of(rows.begin(), rows.end(), [&](const ResultMessage* row) {
    return HostOf(*row) != HostOf(*rows[0]);
  });
}

std::string Identifier(const Place& place) {
  return IsSigned(place.field) ? std::to_string(SignedOf(place))
                               : std::to_string(UnsignedOf(place));
}

std::string ListText(const Place& place) {
  const auto* r = place.message->GetReflection();
  std::string text;
  for (int i = 0; i < r->FieldSize(*place.message, place.field); ++i)
    text += (i == 0 ? "" : ", ") + r->GetRepeatedString(*place.message, place.field, i);
  return text;
}

// A column with the fields that its paths lead to.
class Cells {
 public:
  Cells(const TableColumn& column, const Descriptor* row, const CellContext& context,
        bool with_host)
      : column_(&column),
        context_(&context),
        with_host_(with_host),
        path_(FieldsOf(row, column.field)),
        needs_(FieldsOf(row, column.needs)),
        whole_(FieldsOf(row, column.share_of)),
        unit_(UnitOf(column, row)) {}

  std::string operator()(const ResultMessage& row) const {
    if (!needs_.empty() && !IsPresent(PlaceOf(row, needs_))) return std::string(column_->blank);
    if (column_->needs_if != nullptr && !column_->needs_if(row, *context_))
      return std::string(column_->blank);
    if (column_->cell != nullptr) return column_->cell(row, *context_);
    const Place place = PlaceOf(row, path_);
    if (!place.is_set()) return std::string(column_->blank);
    if (whole_.empty()) return Format(row, place);
    const double whole = RealOf(PlaceOf(row, whole_));
    return FormatPercent(whole > 0 ? RealOf(place) / whole : 0);
  }

 private:
  std::string Format(const ResultMessage& row, const Place& place) const {
    switch (unit_) {
      case Unit::kDuration:
        return FormatDuration(SignedOf(place));
      case Unit::kBytes:
        return FormatBytes(UnsignedOf(place));
      case Unit::kBytesPerSecond:
        return FormatBytes(UnsignedOf(place)) + "/s";
      case Unit::kPercent:
        return FormatPercent(RealOf(place));
      case Unit::kNumber:
        return FormatNumber(UnsignedOf(place));
      case Unit::kReal:
        return FormatReal(RealOf(place));
      case Unit::kAddress:
        return FormatAddress(UnsignedOf(place));
      case Unit::kProcess:
        return Identifier(place) + (with_host_ ? " on " + HostOf(row) : "");
      case Unit::kWord:
        return EnumWord(place.message->GetReflection()->GetEnum(*place.message, place.field));
      case Unit::kFlag:
        return IsPresent(place) ? "yes" : "no";
      case Unit::kText:
        return place.field->is_repeated() ? ListText(place) : NameOf(place, context_->options);
      default:
        return Identifier(place);
    }
  }

  const TableColumn* column_;
  const CellContext* context_;
  bool with_host_;
  Path path_, needs_, whole_;
  Unit unit_;
};

bool DifferInProcess(const std::vector<const ResultMessage*>& rows, const Path& path) {
  std::map<std::pair<std::string, int64_t>, std::string> values;
  for (const ResultMessage* row : rows) {
    const Place place = PlaceOf(*row, path);
    if (!place.is_set()) continue;
    const Place pid = {row, row->GetDescriptor()->FindFieldByName("pid")};
    const std::string value = Identifier(place);
    if (values.try_emplace({HostOf(*row), SignedOf(pid)}, value).first->second != value)
      return true;
  }
  return false;
}

bool Any(const TableColumn& column, const Path& path, const CellContext& context,
         const std::vector<const ResultMessage*>& rows) {
  return std::any_of(rows.begin(), rows.end(), [&](const ResultMessage* row) {
    return column.shown_if != nullptr ? column.shown_if(*row, context)
                                      : IsPresent(PlaceOf(*row, path));
  });
}

bool IsShown(const TableColumn& column, const TableLayout& layout, const std::string& by,
             const TableRows& rows, const Cells& cells, const CellContext& context) {
  if (!column.in_text) return false;
  if (!column.only_by.empty() && !HasWord(column.only_by, by)) return false;
  if (HasWord(column.except_by, by)) return false;
  const Path path =
      FieldsOf(layout.row(), column.shown_by.empty() ? column.field : column.shown_by);
  switch (column.shown) {
    case ShownIf::kAlways:
      return true;
    case ShownIf::kAny:
      return Any(column, path, context, rows.all);
    case ShownIf::kNone:
      return !Any(column, path, context, rows.all);
    case ShownIf::kDifferent:
      return std::any_of(rows.all.begin(), rows.all.end(), [&](const ResultMessage* row) {
        return cells(*row) != cells(*rows.all[0]);
      });
    case ShownIf::kDifferentInProcess:
      return DifferInProcess(rows.all, path);
  }
  return true;
}

// The key that a result's rows are grouped by. "": it has none.
std::string KeyOf(const ResultMessage& result) {
  const FieldDescriptor* by = result.GetDescriptor()->FindFieldByName("by");
  return by == nullptr ? "" : TextOf({&result, by});
}

bool EndsIn(std::string_view name, std::string_view end) {
  return name == end || (name.size() > end.size() && name.ends_with(end) &&
                         name[name.size() - end.size() - 1] == '_');
}

// Returns whether a time is of one event of many: mostly short.
bool IsOfOneEvent(std::string_view name) {
  for (const std::string_view part : {"mean", "median", "min", "max", "first"}) {
    if (name.starts_with(part) || EndsIn(name.substr(0, name.rfind('_')), part)) return true;
  }
  return false;
}

}  // namespace

bool HasWord(std::string_view words, std::string_view key) {
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == key) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

Path FieldsOf(const Descriptor* type, std::string_view path) {
  Path fields;
  while (!path.empty()) {
    const size_t end = std::min(path.find('.'), path.size());
    const FieldDescriptor* field =
        type == nullptr ? nullptr : type->FindFieldByName(std::string(path.substr(0, end)));
    if (field == nullptr) return {};
    fields.push_back(field);
    type = field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE ? field->message_type() : nullptr;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return fields;
}

Unit UnitOf(const FieldDescriptor* field) {
  const std::string_view name = field->name();
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_STRING:
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return Unit::kText;
    case FieldDescriptor::CPPTYPE_ENUM:
      return Unit::kWord;
    case FieldDescriptor::CPPTYPE_BOOL:
      return Unit::kFlag;
    default:
      break;
  }
  if (EndsIn(name, "ns")) return Unit::kDuration;
  if (EndsIn(name, "bytes") || EndsIn(name, "bytes_per_step")) return Unit::kBytes;
  if (EndsIn(name, "bytes_per_second") || EndsIn(name, "bytes_per_s")) return Unit::kBytesPerSecond;
  if (EndsIn(name, "ratio")) return Unit::kPercent;
  if (field->cpp_type() == FieldDescriptor::CPPTYPE_DOUBLE) return Unit::kReal;
  if (EndsIn(name, "count")) return Unit::kNumber;
  if (EndsIn(name, "address")) return Unit::kAddress;
  return name == "pid" ? Unit::kProcess : Unit::kIdentifier;
}

Unit UnitOf(const TableColumn& column, const Descriptor* row) {
  if (column.unit != Unit::kOfField) return column.unit;
  if (!column.share_of.empty()) return Unit::kPercent;
  const Path path = FieldsOf(row, column.field);
  return path.empty() ? Unit::kText : UnitOf(path.back());
}

Scale ScaleOf(const TableColumn& column, const Descriptor* row) {
  if (column.scale.divisor != 0) return column.scale;
  const Path path = FieldsOf(row, column.field);
  const std::string_view name = path.empty() ? std::string_view() : path.back()->name();
  switch (UnitOf(column, row)) {
    case Unit::kDuration:
      return IsOfOneEvent(name) ? kMicroseconds : kMilliseconds;
    case Unit::kBytes:
      return kMebibytes;
    case Unit::kBytesPerSecond:
      return {"MiB/s", 1 << 20, 1};
    case Unit::kReal:
      return EndsIn(name, "per_step") || EndsIn(name, "per_launch") ? kTenths : Scale{"", 1, 2};
    default:
      return {};
  }
}

std::pair<std::string, std::string> NounsOf(const TableLayout& layout) {
  std::string one(layout.noun);
  if (one.empty()) {
    one = layout.rows.substr(layout.rows.rfind('.') + 1);
    if (one.ends_with('s')) one.pop_back();
    std::replace(one.begin(), one.end(), '_', ' ');
  }
  if (one.ends_with('y') && !one.ends_with("ay"))
    return {one, one.substr(0, one.size() - 1) + "ies"};
  return {one, one + (one.ends_with('s') ? "es" : "s")};
}

bool IsRightAligned(const TableColumn& column, const Descriptor* row) {
  if (column.align != ColumnAlign::kOfUnit) return column.align == ColumnAlign::kRight;
  const Unit unit = UnitOf(column, row);
  return unit != Unit::kText && unit != Unit::kWord && unit != Unit::kFlag;
}

TextTable MakeTable(const TableLayout& layout, const TableRows& rows, const ResultMessage& result,
                    const TextOptions& options) {
  const CellContext context = {result, options};
  const bool with_host = AreOfSeveralHosts(rows.all);
  const std::string by = KeyOf(result);
  TextTable table;
  std::vector<Cells> columns;
  for (const TableColumn& column : layout.columns) {
    Cells cells(column, layout.row(), context, with_host);
    if (!IsShown(column, layout, by, rows, cells, context)) continue;
    const auto align =
        IsRightAligned(column, layout.row()) ? TextTable::Align::kRight : TextTable::Align::kLeft;
    table.AddColumn(std::string(column.title), align, column.flexible);
    columns.push_back(std::move(cells));
  }
  for (const ResultMessage* row : rows.shown) {
    std::vector<std::string> line;
    for (const Cells& cells : columns) line.push_back(cells(*row));
    table.AddRow(std::move(line));
  }
  return table;
}

std::string TableText(const std::string& heading, const TableLayout& layout,
                      std::vector<const ResultMessage*> rows, const ResultMessage& result,
                      const TextOptions& options) {
  const int count = static_cast<int>(rows.size());
  TableRows split = {rows, std::move(rows)};
  if (!layout.is_complete) split.shown.resize(static_cast<size_t>(Shown(count, options)));
  return Section(heading, MakeTable(layout, split, result, options), options,
                 layout.is_complete ? 0 : count);
}

std::string TableText(const std::string& heading, const TableLayout& layout,
                      const ResultMessage& result, const TextOptions& options) {
  const Path path = FieldsOf(result.GetDescriptor(), layout.rows);
  std::vector<const ResultMessage*> rows;
  if (path.size() == 1) {
    const auto* r = result.GetReflection();
    for (int i = 0; i < r->FieldSize(result, path[0]); ++i)
      rows.push_back(&r->GetRepeatedMessage(result, path[0], i));
  }
  return TableText(heading, layout, std::move(rows), result, options);
}

std::string TableText(const TableLayout& layout, const ResultMessage& result,
                      const TextOptions& options) {
  return TableText(std::string(layout.title), layout, result, options);
}

}  // namespace gpuprof::analysis
