#include "nminspect/ls_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/options/block_name.h"
#include "common/printing/units.h"
#include "dump/dump.h"
#include "model/text.h"

namespace nmb::tools {
namespace {

std::string kind_text(std::uint16_t kind) {
  return kind == static_cast<std::uint16_t>(Kind::kExtended) ? "extended"
                                                             : fmt::format("cdf{}", kind);
}

// Returns nullptr if the view omits the variable.
const NetcdfView::Variable* variable_of(const NetcdfView& view, VarId id) {
  const auto found = std::ranges::lower_bound(view.variables, id, {}, &NetcdfView::Variable::id);
  return found != view.variables.end() && found->id == id ? &*found : nullptr;
}

const std::vector<Tag>& tags_of(const TagsByOrder& tags, const BlockEntry& entry) {
  static const std::vector<Tag> kNone;
  const auto found = tags.find(entry.order);
  return found == tags.end() ? kNone : found->second;
}

// Returns tags as NAME=VALUE, with text in quotation marks.
std::string tags_text(const std::vector<Tag>& tags) {
  std::string out;
  for (const Tag& tag : tags) {
    const bool is_text = std::holds_alternative<std::string>(tag.value);
    const char* const quote = is_text ? "\"" : "";
    out += fmt::format("{}{}={}{}{}", out.empty() ? "" : " ", tag.name, quote, tag_text(tag.value),
                       quote);
  }
  return out;
}

// JSON has no numbers for NaN and infinity, so they become texts.
Json tag_json(const TagValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return json_text(*text);
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  if (const auto* number = std::get_if<std::uint64_t>(&value)) return *number;
  const double number = std::get<double>(value);
  return std::isfinite(number) ? Json(number) : Json(tag_text(value));
}

}  // namespace

std::vector<Table::Column> BlockRow::columns(const ListedColumns& listed) {
  using enum Table::Align;
  std::vector<Table::Column> columns;
  if (listed.is_long)
    columns = {{"kind", kLeft},     {"dims", kRight},    {"objects", kRight}, {"atts", kRight},
               {"records", kRight}, {"samples", kRight}, {"header", kRight},  {"values", kRight}};
  if (listed.tags) columns.push_back({"tags", kLeft});
  columns.push_back({"name", kLeft});
  return columns;
}

Status BlockRow::for_each(const InspectedFile& file, const PatternOption& choice, const ViewOption&,
                          const std::function<Result<bool>(BlockRow)>& visit) {
  NMB_ASSIGN(const NamePattern pattern, choice.names());
  return for_each_block(file, pattern,
                        [&](const BlockEntry& found) { return visit(BlockRow{found}); });
}

std::string BlockRow::name() const { return std::string(name_for_user(entry.name)); }

std::vector<std::string> BlockRow::cells(const ListedColumns& listed, bool exact) const {
  std::vector<std::string> cells;
  if (listed.is_long)
    cells = {kind_text(entry.kind),
             std::to_string(entry.dimensions),
             std::to_string(entry.variables),
             std::to_string(entry.attributes),
             std::to_string(entry.records),
             std::to_string(entry.samples),
             bytes_text(entry.stored_length, exact),
             bytes_text(entry.extent_length, exact)};
  if (listed.tags) cells.push_back(tags_text(tags_of(*listed.tags, entry)));
  cells.push_back(name());
  return cells;
}

Json BlockRow::json(const ListedColumns& listed) const {
  Json json{{"name", json_text(entry.name)},
            {"kind", kind_text(entry.kind)},
            {"dimensions", entry.dimensions},
            {"objects", entry.variables},
            {"attributes", entry.attributes},
            {"records", entry.records},
            {"samples", entry.samples},
            {"position", entry.position},
            {"header_stored", entry.stored_length},
            {"header", entry.raw_length},
            {"values", entry.extent_length}};
  if (!listed.tags) return json;
  json["tags"] = Json::object();
  for (const Tag& tag : tags_of(*listed.tags, entry))
    json["tags"][json_text(tag.name)] = tag_json(tag.value);
  return json;
}

std::vector<Table::Column> ObjectRow::columns(const ListedColumns& listed) {
  using enum Table::Align;
  if (!listed.is_long) return {{"name", kLeft}};
  return {{"type", kLeft}, {"shape", kLeft}, {"values", kRight}, {"name", kLeft}};
}

Status ObjectRow::for_each(const InspectedFile& file, const PatternOption& choice,
                           const ViewOption& option,
                           const std::function<Result<bool>(ObjectRow)>& visit) {
  NMB_ASSIGN(const ObjectPattern pattern, choice.objects());
  std::optional<std::string> viewed;  // the block to which `view` belongs
  std::optional<NetcdfView> view;
  return pattern.for_each(
      file, [&](const BlockEntry& holder, const Dataset& dataset, VarId id) -> Result<bool> {
        if (viewed != holder.name) {
          NMB_ASSIGN(view, option.of(file, holder.name, dataset));
          viewed = holder.name;
        }
        const NetcdfView::Variable* const shown = view ? variable_of(*view, id) : nullptr;
        if (view && !shown) return true;
        const Variable found = dataset.metadata.variable(id);
        NMB_ASSIGN(VariableShape shape, dataset.shape(id));
        ObjectRow row{holder.name,
                      std::string(found.name),
                      type_text(dataset.metadata, found.type),
                      {},
                      {},
                      0};
        for (std::size_t i = 0; i < found.dimensions.size(); ++i)
          row.dimensions.emplace_back(
              shown ? std::string_view(view->dimensions[shown->dimensions[i]].name)
                    : dataset.metadata.dimension(found.dimensions[i]).name);
        row.lengths = std::move(shape.lengths);
        row.bytes = shape.element_size;
        // shape() has checked that the product does not overflow.
        for (const std::uint64_t length : row.lengths) row.bytes *= length;
        return visit(std::move(row));
      });
}

std::string ObjectRow::name() const { return full_name(block, variable); }

std::vector<std::string> ObjectRow::cells(const ListedColumns& listed, bool exact) const {
  if (!listed.is_long) return {name()};
  std::string shape;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    shape += fmt::format("{}{}={}", i == 0 ? "" : ",", dimensions[i], lengths[i]);
  return {type, "(" + shape + ")", bytes_text(bytes, exact), name()};
}

Json ObjectRow::json(const ListedColumns&) const {
  return {{"name", json_text(name())},
          {"block", json_text(block)},
          {"variable", json_text(variable)},
          {"type", json_text(type)},
          {"dimensions", json_texts(dimensions)},
          {"shape", lengths},
          {"values", bytes}};
}

}  // namespace nmb::tools
