#include "special_attributes.h"

#include <array>

#include "codes.h"
#include "dump/json_text.h"
#include "handles/reader_state.h"
#include "values.h"
#include "wire/endian.h"

namespace nmb::udf {

namespace {

int find_tags(OpenFile& file, Group& group, SpecialAttribute* out) {
  if (group.sources.empty()) return NC_ENOTATT;
  const Result<BlockView> block = file.reader().try_block(group.path);
  if (!block.ok()) return failed(block.status());
  const Result<std::vector<Tag>> tags = block->try_tags();
  if (!tags.ok()) return failed(tags.status());
  std::string json;
  const TextSink sink = [&](std::string_view part) {
    json += part;
    return Status();
  };
  TextOut text(sink);
  const char* between = "{";
  for (const Tag& tag : *tags) {
    text.put(between);
    put_json_string(text, tag.name);
    text.put(": ");
    if (const auto* const value = std::get_if<std::string>(&tag.value))
      put_json_string(text, *value);
    else
      text.put(tag_text(tag.value));
    between = ", ";
  }
  text.put(tags->empty() ? "{}" : "}");
  const Status status = text.finish();
  if (!status.ok()) return failed(status);
  out->type = NC_CHAR;
  const auto bytes = std::as_bytes(std::span(json));
  out->values.assign(bytes.begin(), bytes.end());
  return NC_NOERR;
}

int find_statistic(OpenFile& file, Group& group, const GroupVariable& variable,
                   std::string_view name, SpecialAttribute* out) {
  std::shared_ptr<const Dataset> dataset;
  NMB_NC_TRY(file.dataset(group, &variable, &dataset));
  const VarView view = ReaderState::of(file.reader())->view(dataset, variable.id);
  const Result<std::optional<VariableStatistics>> found = view.try_statistics();
  if (!found.ok()) return failed(found.status());
  if (!*found || !(*found)->computed) return NC_ENOTATT;
  const VariableStatistics& statistics = **found;
  const bool is_count = name == "_NmbElements" || name == "_NmbMissing";
  if (is_count) {
    out->type = NC_UINT64;
    out->values.resize(sizeof(std::uint64_t));
    store_be(out->values.data(), name == "_NmbElements" ? statistics.elements : statistics.missing);
    return NC_NOERR;
  }
  if (!statistics.has_range) return NC_ENOTATT;
  out->type = static_cast<nc_type>(statistics.type);
  const auto& value = name == "_NmbMinimum" ? statistics.minimum : statistics.maximum;
  out->values.assign(value.begin(),
                     value.begin() + static_cast<std::ptrdiff_t>(atomic_size(out->type)));
  return NC_NOERR;
}

}  // namespace

int SpecialAttribute::read(nc_type memory, void* out) const {
  return read_external(type, values.data(), count(), memory, out);
}

int find_special(OpenFile& file, Group& group, const GroupVariable* variable, std::string_view name,
                 SpecialAttribute* out) {
  if (!variable) return name == "_NmbTags" ? find_tags(file, group, out) : NC_ENOTATT;
  constexpr std::array<std::string_view, 4> kNames{"_NmbMinimum", "_NmbMaximum", "_NmbElements",
                                                   "_NmbMissing"};
  const bool is_known = std::ranges::find(kNames, name) != kNames.end();
  return is_known ? find_statistic(file, group, *variable, name, out) : NC_ENOTATT;
}

}  // namespace nmb::udf
