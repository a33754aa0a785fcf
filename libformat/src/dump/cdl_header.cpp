// Writes dimensions, variables and attributes as CDL (see nmb/dump.h).
#include "dump/cdl_header.h"

#include <algorithm>
#include <array>
#include <string>

#include "dump/cdl_text.h"
#include "dump/extended_text.h"
#include "dump/shown_header.h"

namespace nmb {
namespace {

// Writes one attribute. If a value of variable length is damaged, writes the error in place of the
// value.
void put_attribute(TextOut& out, const Metadata& metadata, std::string_view owner,
                   const Attribute& attribute) {
  out.put("\t\t");
  put_cdl_name(out, owner);
  // CDL reads "data:" as a keyword. A blank before the colon prevents this.
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

}  // namespace

void put_cdl_header(TextOut& out, const DatasetText& dataset, const NetcdfView* view) {
  const Metadata& metadata = dataset.metadata;
  const ShownHeader shown(dataset, view);
  out.put("netcdf ");
  put_cdl_name(out, dataset.name, true);
  out.put(" {\n");
  if (shown.dimension_count() > 0) out.put("dimensions:\n");
  for (std::uint32_t d = 0; d < shown.dimension_count(); ++d) {
    const ShownHeader::Dimension dimension = shown.dimension(d);
    out.put('\t');
    put_cdl_name(out, dimension.name);
    const std::string length = std::to_string(dimension.length);
    out.put(dimension.may_grow ? " = UNLIMITED ; // (" + length + " currently)\n"
                               : " = " + length + " ;\n");
  }
  if (shown.variable_count() > 0) out.put("variables:\n");
  for (std::uint32_t v = 0; v < shown.variable_count(); ++v) {
    const ShownHeader::Variable variable = shown.variable(v);
    out.put('\t');
    out.put(type_text(metadata, metadata.variable(variable.id).type));
    out.put(' ');
    put_cdl_name(out, variable.name);
    for (std::size_t d = 0; d < variable.dimensions.size(); ++d) {
      out.put(d == 0 ? "(" : ", ");
      put_cdl_name(out, shown.dimension(variable.dimensions[d]).name);
    }
    out.put(variable.dimensions.empty() ? " ;\n" : ") ;\n");
    shown.for_each_attribute(variable.id, [&](const Attribute& attribute) {
      put_attribute(out, metadata, variable.name, attribute);
    });
  }
  bool any = false;
  shown.for_each_attribute(kGlobal, [&](const Attribute& attribute) {
    if (!any) out.put("\n// global attributes:\n");
    any = true;
    put_attribute(out, metadata, {}, attribute);
  });
}

Status write_cdl_header(const DatasetText& dataset, const TextSink& sink, const NetcdfView* view) {
  TextOut out(sink);
  put_cdl_header(out, dataset, view);
  out.put("}\n");
  return out.finish();
}

}  // namespace nmb
