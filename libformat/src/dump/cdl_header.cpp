// Dimensions, variables and attributes as CDL (see nmb/dump.h).
#include "dump/cdl_header.h"

#include <algorithm>
#include <array>
#include <string>

#include "dump/cdl_text.h"
#include "dump/extended_text.h"

namespace nmb {
namespace {

// What is wrong in a value of variable length shows in its place.
void put_attribute(TextOut& out, const Metadata& metadata, std::string_view owner,
                   const Attribute& attribute) {
  out.put("\t\t");
  put_cdl_name(out, owner);
  // "data:" is a word of CDL, "data :" is not.
  constexpr std::array<std::string_view, 5> kWords = {"types", "dimensions", "variables", "data",
                                                      "group"};
  if (std::find(kWords.begin(), kWords.end(), owner) != kWords.end()) out.put(' ');
  out.put(':');
  put_cdl_name(out, attribute.name);
  out.put(" = ");
  if (TypeTable::is_extended(attribute.type) && attribute.count > 0) {
    const Status status =
        put_extended_attribute(out, metadata.extension()->types, attribute, ValueFormat::kCdl);
    if (!status.ok()) out.put("/* " + status.message() + " */");
  } else if (attribute.type == Type::kChar || attribute.count == 0) {
    CdlString string(out, ",\n\t\t\t", true);
    string.add({reinterpret_cast<const char*>(attribute.values.data()), attribute.values.size()});
    string.close();
  } else {
    for (std::uint64_t i = 0; i < attribute.count; ++i) {
      if (i > 0) out.put(", ");
      put_cdl_constant(out, attribute.type,
                       attribute.values.data() + i * type_size(attribute.type));
    }
  }
  out.put(" ;\n");
}

void put_attributes(TextOut& out, const Metadata& metadata, VarId owner, std::string_view name) {
  metadata.for_each_attribute(
      owner, [&](const Attribute& attribute) { put_attribute(out, metadata, name, attribute); });
}

}  // namespace

void put_cdl_header(TextOut& out, const DatasetText& dataset) {
  const Metadata& metadata = dataset.metadata;
  out.put("netcdf ");
  put_cdl_name(out, dataset.name, true);
  out.put(" {\n");
  if (metadata.dimension_count() > 0) out.put("dimensions:\n");
  for (DimId id = 0; id < metadata.dimension_count(); ++id) {
    const Dimension dimension = metadata.dimension(id);
    out.put('\t');
    put_cdl_name(out, dimension.name);
    if (dimension.is_record())
      out.put(" = UNLIMITED ; // (" + std::to_string(dataset.records) + " currently)\n");
    else if (may_grow(metadata, id))
      out.put(" = UNLIMITED ; // (" + std::to_string(dimension.length) + " currently)\n");
    else
      out.put(" = " + std::to_string(dimension.length) + " ;\n");
  }
  if (metadata.variable_count() > 0) out.put("variables:\n");
  for (VarId id = 0; id < metadata.variable_count(); ++id) {
    const Variable variable = metadata.variable(id);
    out.put('\t');
    out.put(type_text(metadata, variable.type));
    out.put(' ');
    put_cdl_name(out, variable.name);
    for (std::size_t d = 0; d < variable.dimensions.size(); ++d) {
      out.put(d == 0 ? "(" : ", ");
      put_cdl_name(out, metadata.dimension(variable.dimensions[d]).name);
    }
    out.put(variable.dimensions.empty() ? " ;\n" : ") ;\n");
    put_attributes(out, metadata, id, variable.name);
  }
  if (metadata.attribute_count(kGlobal) > 0) out.put("\n// global attributes:\n");
  put_attributes(out, metadata, kGlobal, {});
}

Status write_cdl_header(const DatasetText& dataset, const TextSink& sink) {
  TextOut out(sink);
  put_cdl_header(out, dataset);
  out.put("}\n");
  return out.finish();
}

}  // namespace nmb
